import {hydrateRoot} from "react-dom/client";
import {App, waits} from "./app.jsx";

// The last part is taken over when it is asked for.
waits.late = new Promise((done) => { window.goOn = done; });
hydrateRoot(document.querySelector("#app"), <App/>, {
    onRecoverableError: (error) => console.error("hydration", String(error)),
});
