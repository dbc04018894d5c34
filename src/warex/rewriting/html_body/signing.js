// Returns a function that authenticates a text of ASCII: HMAC-SHA-256 (RFC 2104, FIPS 180-4) under the
// key, in hexadecimal. `crypto.subtle` is only there in secure contexts. Once the page's scripts run,
// no method and no property of a prototype is used, which they could have replaced to read the key.
(key, {uncurried}) => {
    const Bytes = Uint8Array, Words = Int32Array;
    const codeAt = uncurried(String.prototype.charCodeAt), character = String.fromCharCode;
    const fraction = (root) => (root - Math.floor(root)) * 4294967296 | 0;
    const constants = new Words(64), start = new Words(8);
    for (let number = 2, found = 0; found < 64; number++) {
        let isPrime = true;
        for (let by = 2; by * by <= number; by++) if (number % by === 0) isPrime = false;
        if (!isPrime) continue;
        if (found < 8) start[found] = fraction(Math.sqrt(number));
        constants[found++] = fraction(Math.cbrt(number));
    }
    const turn = (word, by) => (word >>> by) | (word << (32 - by));
    // Return the digest of a text behind a block of 64 bytes.
    const digest = (block, text) => {
        const size = 64 + text.length, blocks = ((size + 8) >> 6) + 1, last = blocks * 64 - 1;
        const byte = (at) => {
            if (at < 64) return block[at];
            if (at < size) return codeAt(text, at - 64) & 255;
            if (at === size) return 128;
            const behind = last - at;
            return behind < 4 ? (size * 8 >>> (behind * 8)) & 255 : behind === 4 ? (size / 536870912) & 255 : 0;
        };
        const state = new Words(8), words = new Words(64);
        for (let at = 0; at < 8; at++) state[at] = start[at];
        for (let number = 0; number < blocks; number++) {
            for (let at = 0; at < 64; at++) {
                if (at < 16) {
                    const from = number * 64 + at * 4;
                    words[at] = (byte(from) << 24) | (byte(from + 1) << 16) | (byte(from + 2) << 8) | byte(from + 3);
                    continue;
                }
                const early = words[at - 15], late = words[at - 2];
                const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
                const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
                words[at] = words[at - 16] + first + words[at - 7] + second;
            }
            let a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
            for (let at = 0; at < 64; at++) {
                const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[at] + words[at]) | 0;
                const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
                h = g; g = f; f = e; e = (d + one) | 0;
                d = c; c = b; b = a; a = (one + two) | 0;
            }
            state[0] += a; state[1] += b; state[2] += c; state[3] += d;
            state[4] += e; state[5] += f; state[6] += g; state[7] += h;
        }
        return state;
    };
    const inner = new Bytes(64), outer = new Bytes(64);
    for (let at = 0; at < 64; at++) {
        const code = at < key.length ? codeAt(key, at) : 0;
        inner[at] = code ^ 54;
        outer[at] = code ^ 92;
    }
    const digits = "0123456789abcdef";
    return (text) => {
        const first = digest(inner, text);
        let middle = "", written = "";
        for (let at = 0; at < 32; at++) middle += character((first[at >> 2] >>> (24 - (at & 3) * 8)) & 255);
        const second = digest(outer, middle);
        for (let at = 0; at < 64; at++) written += digits[(second[at >> 3] >>> (28 - (at & 7) * 4)) & 15];
        return written;
    };
}
