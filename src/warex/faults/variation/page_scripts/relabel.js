// Buttons, links and fields say the same in other words.
(settings, {reword}) => reword()
