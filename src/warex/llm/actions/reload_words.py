"""The words by which pages and agents in 14 languages ask for a page again."""

import re

from warex.text.lazy_pattern import lazy_re

_AGAIN = lazy_re(
    r"(?:(?:please )?try |(?:click|tap|press) (?:here )?to )?"
    r"(?:re-?load(?:ing)?|refresh(?:ing)?|re-?try(?:ing)?|try (?:it )?again|load(?:ing)? again)"
    r"(?: (?:[\w'-]+ ){0,4}(?:page|site|list|tab|map|table|view|results|content))?(?: again)?"
    r"|(?:(?:die |diese )?seite )?(?:neu laden|aktualisieren)"
    r"|(?:noch ?mals?|noch einmal|erneut|wieder) (?:versuchen|laden)|wiederholen"
    r"|versuchen? sie es erneut"
    r"|(?:r[ée]essaye[rz]|actualise[rz]|recharge[rz]|rafra[iî]chi[rs]s?e?z?)"
    r"(?: (?:(?:la|cette) )?page)?"
    r"|(?:reintentar(?:lo)?|actualizar|recargar|v(?:olver|uelv[ae]) a (?:cargar|intentar)(?:l[ao])?"
    r"|(?:intentar(?:lo)?|int[ée]nt[ae](?:lo)?) (?:de nuevo|otra vez|nuevamente))"
    r"(?: (?:(?:la|esta) )?p[áa]gina)?"
    r"|riprovar?e?|prova di nuovo|(?:ricarica(?:re)?|aggiorna(?:re)?)(?: (?:la )?pagina)?"
    r"|(?:tent(?:ar|e) (?:novamente|de novo|outra vez)|recarreg(?:ar|ue)|atualiz(?:ar|e))"
    r"(?: (?:a )?p[áa]gina)?"
    r"|opnieuw (?:proberen|laden)|probeer (?:het )?opnieuw|vernieuwen|spróbuj ponownie|odśwież"
    r"|försök igen|ladda om(?: sidan)?"
    r"|повторить(?: попытку)?|обновить(?: страницу)?|попробовать (?:снова|ещё раз)|перезагрузить"
    r"|(?:点击)?(?:重试|刷新|重新(?:加载|尝试|载入)|再试一次)(?:页面|本页)?"
    r"|重新(?:載入|整理|嘗試)(?:頁面)?|重試|再試一次"
    r"|(?:ページを)?(?:再試行|再読み込み|更新|リロード)(?:する)?|やり直す|もう一度(?:試す|お試しください|読み込む)?"
    r"|다시 (?:시도|로드)(?:하기)?|새로 ?고침(?:하기)?",
    re.IGNORECASE,
)


def says_reload(name: str) -> bool:
    """Whether the name of a button or an action only says that a page is loaded again."""
    return _AGAIN.fullmatch(name) is not None
