import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  chromium as engine,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import root, { type Test } from 'tap';
import { atNight } from '../nightly.ts';
import { ROOT } from '../repository.ts';

/** A page that never shows what a test waits for must end the test; a busy machine must not. */
const WAIT_MS_MAX = 60_000;

/** Allows pages to play audio without a click; all other behavior is that of a new installation. */
const SHARED_FLAGS = ['--autoplay-policy=no-user-gesture-required'];

let sharedBrowser: Promise<Browser> | undefined;

/** Returns the browser of this process, which is started once, and closed after all tests. */
function shareBrowser(): Promise<Browser> {
  sharedBrowser ??= launch(root, SHARED_FLAGS);
  return sharedBrowser;
}

/** Starts another headless browser with additional flags, and closes it after the test. */
export function withOwnBrowser(t: Test, flags: readonly string[]): Promise<Browser> {
  return launch(t, flags);
}

/** Chromium's own flags for servers are left out: with `--single-process` it stops with a context. */
async function launch(t: Pick<Test, 'teardown'>, flags: readonly string[]): Promise<Browser> {
  const browser = await engine.launch({
    executablePath: await unpackChromium(),
    args: ['--no-sandbox', '--disable-background-networking', ...flags],
    headless: true,
    timeout: WAIT_MS_MAX,
  });
  t.teardown(() => browser.close());
  return browser;
}

const UNPACK = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;

/**
 * Returns the path of Chromium, which is unpacked once on each machine. The package unpacks it into the
 * directory of temporary files, and mistakes a file that exists for a complete one. Test files that run at
 * the same time would start a part of it, so it is unpacked elsewhere and then renamed.
 */
async function unpackChromium(): Promise<string> {
  const manifest = join(ROOT, 'node_modules/@sparticuz/chromium/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const directory = join(tmpdir(), `sandbox-kit-chromium-${version}`);
  if (!existsSync(directory)) {
    const unpacked = mkdtempSync(`${directory}-`);
    const args = ['--input-type=module', '--eval', UNPACK];
    const environment = { ...process.env, TMPDIR: unpacked };
    await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: environment });
    try {
      renameSync(unpacked, directory);
    } catch (error) {
      rmSync(unpacked, { recursive: true });
      // Another process was faster.
      if (!existsSync(directory)) throw error;
    }
  }
  return join(directory, 'chromium');
}

/** Creates a browser context, such as that of another user, and closes it after the test. */
export async function withContext(
  t: Test,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const browser = await shareBrowser();
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WAIT_MS_MAX);
  t.teardown(() => context.close());
  return context;
}

/** A page, with the requests and errors since it was opened. */
export interface OpenedPage {
  page: Page;
  /** The requested URLs, starting with the page. */
  requests: string[];
  /** Console messages and uncaught exceptions, including reports of blocked scripts. */
  errors: string[];
}

/** Opens a URL in a new browser context, which is closed after the test. */
export async function openPage(
  t: Test,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await withContext(t, options);
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(url);
  return { page, requests, errors };
}

/** The size and the colors in which a page is shown. */
interface View {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** A desktop in light mode, in which a push visits pages. */
export const DESKTOP: View = { width: 1280, colorScheme: 'light' };

/** The width of a phone. */
export const PHONE_WIDTH = 390;

/** The options of a context that shows pages in a view. */
export const optionsOf = ({ width, colorScheme }: View): BrowserContextOptions => ({
  viewport: { width, height: 844 },
  colorScheme,
});

/** At night a desktop and a phone, in light and dark mode; at a push one of them. */
export const VIEWS: readonly View[] = atNight(
  [
    DESKTOP,
    { width: 1280, colorScheme: 'dark' },
    { width: PHONE_WIDTH, colorScheme: 'light' },
    { width: PHONE_WIDTH, colorScheme: 'dark' },
  ],
  [DESKTOP],
);

/** Opens a URL in all views. */
export async function visitViews(
  t: Test,
  url: string,
  visit: (opened: OpenedPage, view: View) => Promise<void>,
): Promise<void> {
  for (const view of VIEWS) {
    const opened = await openPage(t, url, optionsOf(view));
    await visit(opened, view);
    await opened.page.context().close();
  }
}

/** A desktop, a small laptop, a tablet, and a phone. */
const SCREEN_WIDTHS = [DESKTOP.width, 1024, 768, PHONE_WIDTH];

/** What is wider than its place: the page, tables, cells, or navigations. */
const FIND_WIDE = `[document.scrollingElement, ...document.querySelectorAll('table, th, td, nav')]
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && !each.closest('thead'))
  .slice(0, 5).map((each) => each.tagName + ' ' + each.scrollWidth + ' > ' + each.clientWidth + ' '
    + each.textContent.trim().slice(0, 40))`;

/** Labels of charts that are cut off, or that cover each other. */
const FIND_ILLEGIBLE = `[...document.querySelectorAll('svg[role=img]')]
  .filter((svg) => svg.checkVisibility()).flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    const labels = [...svg.querySelectorAll('text')].map((label) =>
      [label.textContent, label.getBoundingClientRect()]);
    const covers = (one, other) => Math.min(one.right, other.right) > Math.max(one.left, other.left)
      && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > one.height / 3;
    return labels.flatMap(([text, place], index) => [
      ...(place.left < frame.left - 1 || place.right > frame.right + 1 ? [text + ' is cut'] : []),
      ...labels.slice(index + 1).filter(([, other]) => covers(place, other))
        .map(([other]) => text + ' covers ' + other)]);
  }).slice(0, 5)`;

/**
 * Asserts that neither a page nor a table, a cell, or a navigation of it scrolls sideways, and that all labels of its
 * charts can be read, at the width of each screen. `visit` checks more at each width.
 */
export async function assertFits(
  t: Test,
  page: Page,
  place: string,
  visit?: (width: number) => Promise<void> | undefined,
): Promise<void> {
  const viewport = page.viewportSize();
  if (!viewport) throw new Error('The page has no fixed size.');
  for (const width of SCREEN_WIDTHS) {
    await page.setViewportSize({ ...viewport, width });
    t.same(await page.evaluate(FIND_WIDE), [], `${place} fits ${width} px`);
    t.same(await page.evaluate(FIND_ILLEGIBLE), [], `${place}: labels of charts at ${width} px`);
    await visit?.(width);
  }
  await page.setViewportSize(viewport);
}
