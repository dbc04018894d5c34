// An application that is drawn by a server and taken over by the browser, one part of it later.
import {Suspense, lazy, useState} from "react";

export const waits = {late: Promise.resolve()};
const Goods = () => <>
    <p><button id="late">Help</button></p>
    <ul id="goods"><li><a href="#d">Kettle</a> {"$12.50"}</li><li><a href="#e">Pot</a> {"$9.00"}</li></ul>
    <article><p>A good kettle.</p></article>
</>;
const Late = lazy(() => waits.late.then(() => ({default: Goods})));

const WORDS = ["Pear", "Fig", "Lime", "Apple", "Kiwi"];
const Lists = () => {
    const [words, setWords] = useState(WORDS);
    return <section>
        <ul id="keyed">{words.map((word) => <li key={word}>{word}</li>)}</ul>
        <ul id="indexed">{words.map((word, at) => <li key={at}>{word}</li>)}</ul>
        <button id="more" onClick={() => setWords((words) => words.toSpliced(2, 2, "Nut"))}>More</button>
        <button id="sort" onClick={() => setWords((words) => words.toSorted())}>Sort</button>
    </section>;
};

const Used = () => {
    const [clicks, setClicks] = useState(0), [draws, setDraws] = useState(0);
    const count = () => setClicks((clicks) => clicks + 1);
    return <>
        <nav><a href="#a">Home</a> <a href="#b">Settings</a> <a href="#c">Orders</a></nav>
        <label>Email <input id="typed"/></label>
        <button id="keep" onClick={count}>Save</button>
        <button id="draw" onClick={() => setDraws((draws) => draws + 1)}>Draw</button>
        <div id="drawn">{draws > 0 && <button key={draws} onClick={count}>Delete</button>}</div>
        <p id="told">clicks {clicks}</p>
        <Lists/>
    </>;
};

// A part that draws itself anew does not reach the one that is taken over later.
export const App = () => <main>
    <Used/>
    <Suspense fallback={<p>Wait</p>}><Late/></Suspense>
</main>;

// All of a page, as frameworks on top of React draw it.
export const Page = () => <html lang="en">
    <head><title>t</title><link rel="icon" href="data:,"/></head>
    <body><App/><script src="/client.js"></script></body>
</html>;
