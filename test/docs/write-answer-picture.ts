// npm run generate:picture: makes the picture of the answer page in docs/images, of a question that is always the same.
import { fileURLToPath } from 'node:url';
import { writePage } from '@methods/gateway/routes/answer-page/page-frame';
import { shownPage } from '@methods/gateway/routes/answer-page/page-visit';
import { askedQuestion, RECIPIENT } from '@methods/gateway/testing/asked-question.fixture';
import { findChromium, openHeadlessBrowser } from '../harness/headless-browser.ts';

const PICTURE = fileURLToPath(new URL('../../docs/images/answer-page.png', import.meta.url));
const WIDTH = 760;

const chromium = findChromium();
if (chromium === null) throw new Error('The picture needs Chromium: apt-get install chromium');

const question = askedQuestion({
  show: [
    { path: 'steps.order', valueJson: JSON.stringify({ number: 'ord_7f3', total: '250 EUR', paid_with: 'card' }) },
  ],
});
const { text } = writePage(
  shownPage(
    {
      question,
      visitor: RECIPIENT,
      secret: '',
      signInPath: null,
      nowMs: question.deadlineAtMs - 3_600_000,
      answer: async () => question,
      delegate: async () => '',
      again: async () => question,
    },
    undefined,
  ),
);

await using browser = await openHeadlessBrowser(chromium);
const { page } = browser;
await page.setViewportSize({ width: WIDTH, height: 400 });
// Without its script, which adds the time of this machine's zone.
await page.setContent(text.replace(/<script[\s\S]*?<\/script>/, ''));
await page.getByText('Approve', { exact: true }).click();
await page.screenshot({ path: PICTURE, fullPage: true });
