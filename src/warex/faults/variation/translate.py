"""The site's interface is in another language; its content is unchanged."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field, JsonValue

from warex.faults.variation.base import VariationFault
from warex.faults.variation.relabel import INTERFACE
from warex.seeds import KeyedRng

type Language = Literal["de", "fr", "es"]

_LANGUAGES: Final[tuple[Language, ...]] = ("de", "fr", "es")
WORDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "about": ("Über uns", "À propos", "Acerca de"),
    "about us": ("Über uns", "Qui sommes-nous", "Quiénes somos"),
    "account": ("Konto", "Compte", "Cuenta"),
    "add": ("Hinzufügen", "Ajouter", "Añadir"),
    "add to cart": ("In den Warenkorb", "Ajouter au panier", "Añadir al carrito"),
    "apply": ("Anwenden", "Appliquer", "Aplicar"),
    "back": ("Zurück", "Retour", "Volver"),
    "buy": ("Kaufen", "Acheter", "Comprar"),
    "buy now": ("Jetzt kaufen", "Acheter maintenant", "Comprar ahora"),
    "cancel": ("Abbrechen", "Annuler", "Cancelar"),
    "cart": ("Warenkorb", "Panier", "Carrito"),
    "categories": ("Kategorien", "Catégories", "Categorías"),
    "checkout": ("Zur Kasse", "Passer la commande", "Finalizar compra"),
    "close": ("Schließen", "Fermer", "Cerrar"),
    "comment": ("Kommentieren", "Commenter", "Comentar"),
    "comments": ("Kommentare", "Commentaires", "Comentarios"),
    "compose": ("Schreiben", "Nouveau message", "Redactar"),
    "confirm": ("Bestätigen", "Confirmer", "Confirmar"),
    "contact": ("Kontakt", "Contact", "Contacto"),
    "continue": ("Weiter", "Continuer", "Continuar"),
    "create": ("Erstellen", "Créer", "Crear"),
    "create account": ("Konto anlegen", "Créer un compte", "Crear cuenta"),
    "date": ("Datum", "Date", "Fecha"),
    "delete": ("Löschen", "Supprimer", "Eliminar"),
    "description": ("Beschreibung", "Description", "Descripción"),
    "done": ("Fertig", "Terminé", "Listo"),
    "download": ("Herunterladen", "Télécharger", "Descargar"),
    "edit": ("Bearbeiten", "Modifier", "Editar"),
    "email": ("E-Mail", "Adresse e-mail", "Correo electrónico"),
    "event": ("Termin", "Événement", "Evento"),
    "filter": ("Filtern", "Filtrer", "Filtrar"),
    "first name": ("Vorname", "Prénom", "Nombre de pila"),
    "help": ("Hilfe", "Aide", "Ayuda"),
    "home": ("Startseite", "Accueil", "Inicio"),
    "last name": ("Nachname", "Nom de famille", "Apellido"),
    "log in": ("Anmelden", "Se connecter", "Iniciar sesión"),
    "log out": ("Abmelden", "Se déconnecter", "Cerrar sesión"),
    "login": ("Anmelden", "Se connecter", "Iniciar sesión"),
    "logout": ("Abmelden", "Se déconnecter", "Cerrar sesión"),
    "message": ("Nachricht", "Message", "Mensaje"),
    "messages": ("Nachrichten", "Messages", "Mensajes"),
    "my account": ("Mein Konto", "Mon compte", "Mi cuenta"),
    "name": ("Name", "Nom", "Nombre"),
    "new": ("Neu", "Nouveau", "Nuevo"),
    "new event": ("Neuer Termin", "Nouvel événement", "Nuevo evento"),
    "next": ("Nächste", "Suivant", "Siguiente"),
    "notifications": ("Benachrichtigungen", "Notifications", "Notificaciones"),
    "open": ("Öffnen", "Ouvrir", "Abrir"),
    "orders": ("Bestellungen", "Commandes", "Pedidos"),
    "password": ("Passwort", "Mot de passe", "Contraseña"),
    "phone": ("Telefon", "Téléphone", "Teléfono"),
    "previous": ("Vorherige", "Précédent", "Anterior"),
    "price": ("Preis", "Prix", "Precio"),
    "products": ("Produkte", "Produits", "Productos"),
    "profile": ("Profil", "Profil", "Perfil"),
    "publish": ("Veröffentlichen", "Publier", "Publicar"),
    "quantity": ("Menge", "Quantité", "Cantidad"),
    "remove": ("Entfernen", "Retirer", "Quitar"),
    "reply": ("Antworten", "Répondre", "Responder"),
    "reviews": ("Bewertungen", "Avis", "Opiniones"),
    "save": ("Speichern", "Enregistrer", "Guardar"),
    "save changes": (
        "Änderungen speichern",
        "Enregistrer les modifications",
        "Guardar los cambios",
    ),
    "search": ("Suchen", "Rechercher", "Buscar"),
    "send": ("Senden", "Envoyer", "Enviar"),
    "settings": ("Einstellungen", "Paramètres", "Ajustes"),
    "share": ("Teilen", "Partager", "Compartir"),
    "shop": ("Laden", "Boutique", "Tienda"),
    "sign in": ("Anmelden", "Se connecter", "Iniciar sesión"),
    "sign out": ("Abmelden", "Se déconnecter", "Cerrar sesión"),
    "sign up": ("Registrieren", "S'inscrire", "Registrarse"),
    "sort by": ("Sortieren nach", "Trier par", "Ordenar por"),
    "submit": ("Absenden", "Valider", "Enviar formulario"),
    "subscribe": ("Abonnieren", "S'abonner", "Suscribirse"),
    "title": ("Titel", "Titre", "Título"),
    "update": ("Aktualisieren", "Mettre à jour", "Actualizar"),
    "upload": ("Hochladen", "Téléverser", "Subir"),
    "view all": ("Alle anzeigen", "Tout afficher", "Ver todo"),
}
"""Each label in the languages, in the order of ``_LANGUAGES``."""


class Translate(VariationFault, frozen=True):
    """Translate a share of the usual labels, and set ``lang``."""

    summary: ClassVar = "Translate buttons, links and labels."
    helpers: ClassVar = ("watching", "joint_texts", "wording")
    meets: ClassVar = "has some of its buttons, links and labels in another language"

    kind: Literal["translate"] = "translate"
    language: Language | None = Field(
        default=None, description="Which language; left out, the seed chooses."
    )

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Choose the language, and the labels to translate."""
        language = self.language or rng.choice(_LANGUAGES, "language")
        at = _LANGUAGES.index(language)
        words: dict[str, JsonValue] = {
            word: others[at]
            for word, others in WORDS.items()
            if rng.draw("word", word) < self.strength
        }
        return {"language": language, "where": INTERFACE, "words": words}
