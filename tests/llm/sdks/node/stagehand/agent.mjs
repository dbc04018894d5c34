// node agent.mjs: Stagehand, with its own Chromium, finds out in which room an event takes place.
import {localBrowser, Stagehand} from '@browserbasehq/stagehand';
import {z} from 'zod/v4';

const place = z.object({room: z.string()});
const calls = [];
const browser = await localBrowser.launch({headless: true, chromiumSandbox: false});
try {
  const stagehand = await Stagehand.create({browser, model: {modelName: 'openai/gpt-4o-mini', apiKey: 'sk-test'}});
  const [page] = await browser.context.pages();
  await page.goto('https://calendar.warex.test/');
  calls.push(await stagehand.act('open the event "Budget review"'));
  calls.push(await stagehand.extract('the room of the event', place));
  if (calls.at(-1).data.room === '') {
    await page.reload();
    calls.push(await stagehand.extract('the room of the event', place));
  }
  await stagehand.close();
} finally {
  await browser.close();
}
const numbers = calls.map((it) => it.metadata.usage);
process.stdout.write(JSON.stringify({room: calls.at(-1).data.room, numbers}));
