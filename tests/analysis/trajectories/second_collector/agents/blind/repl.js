// Executes blocks of code with Playwright's `page`: JSON lines in, JSON lines out.
const { chromium } = require(process.argv[2]);
const Block = (async () => {}).constructor;
const sleep = ms => new Promise(done => setTimeout(done, ms));
const text = () => document.title + '\n' + (document.body ? document.body.innerText : '').slice(0, 600);

(async () => {
  const browser = await chromium.launch({ executablePath: process.argv[3], args: ['--no-sandbox'] });
  const page = await browser.newPage();
  page.setDefaultTimeout(2500);
  page.setDefaultNavigationTimeout(9000);
  const state = {};
  for await (const line of require('readline').createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line), reply = { out: '' };
    const log = (...values) => {
      reply.out += values.map(v => typeof v === 'string' ? v : JSON.stringify(v)).join(' ') + '\n' };
    try {
      if (asked.see) {
        await sleep(350);
        reply.out = 'URL: ' + page.url() + '\n' + await page.evaluate(text);
      } else {
        await new Block('page', 'browser', 'state', 'sleep', 'console', 'finish', asked.code)(
          page, browser, state, sleep, { log, error: log }, words => { reply.ended = words });
      }
    } catch (error) { reply.out += String(error).split('\n')[0].slice(0, 160) }
    process.stdout.write(JSON.stringify(reply) + '\n');
  }
  await browser.close();
})();
