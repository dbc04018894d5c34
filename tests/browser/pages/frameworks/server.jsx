import {prerender} from "react-dom/static";
import {App, Page} from "./app.jsx";

prerender(process.argv[2] === "page" ? <Page/> : <App/>)
    .then(({prelude}) => new Response(prelude).text())
    .then((text) => process.stdout.write(text));
