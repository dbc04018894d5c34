import {prerender} from "react-dom/static";
import {App} from "./app.jsx";

prerender(<App/>)
    .then(({prelude}) => new Response(prelude).text())
    .then((text) => process.stdout.write(text));
