// The interface speaks another language, and the page says so.
({language}, {reword, note}) => {
    reword();
    note("lang", document.documentElement.lang, language);
    document.documentElement.lang = language;
}
