// The interface speaks another language, and the page says so.
({language}, {reword}) => {
    reword();
    document.documentElement.lang = language;
}
