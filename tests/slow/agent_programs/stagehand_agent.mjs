// Stagehand's agent, with a Chromium of its own. Argument: the task.
import {Stagehand} from '@browserbasehq/stagehand';

const model = {modelName: 'openai/gpt-4.1-mini', apiKey: 'sk-test'};
const stagehand = new Stagehand({
  env: 'LOCAL',
  verbose: 0,
  disablePino: true,
  model,
  localBrowserLaunchOptions: {headless: true, executablePath: process.env.BROWSER, args: ['--no-sandbox']},
});
await stagehand.init();
try {
  const result = await stagehand.agent({model}).execute({instruction: process.argv[2], maxSteps: 12});
  console.log(result.message);
} finally {
  await stagehand.close();
}
