// What was not there before: each stays until its button is clicked.
({added}, {speak, mark, make, watch, add, on, tell, natives}) => {
    watch(() => {});
    for (const {words, style, top} of added) {
        const {text, close} = speak(words);
        const box = mark(make("aside", style), words);
        const button = make("button", {"margin-inline-start": "12px", padding: "4px 10px", border: "1px solid currentcolor", "border-radius": "6px", background: "transparent", color: "inherit", font: "inherit", cursor: "pointer"}, close);
        button.type = "button";
        box.append(make("span", {}, text), button);
        const letGo = add(box, () => natives.body(document)[top ? "prepend" : "append"](box));
        on(button, "click", (event) => {
            tell("dismissed", event);
            letGo();
        });
    }
}
