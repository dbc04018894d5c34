import {hydrateRoot} from "react-dom/client";
import {App, Page, waits} from "./app.jsx";

// The last part is taken over when it is asked for.
waits.late = new Promise((done) => { window.goOn = done; });
const part = document.querySelector("#app");
hydrateRoot(part || document, part ? <App/> : <Page/>, {
    onRecoverableError: (error) => console.error("hydration", String(error)),
});
