/** Accessibility of pages, judged by axe-core in the browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { isNightly } from '../nightly.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** Asserts that axe-core finds no violation on a page. */
export async function assertAccessible(t: Test, page: Page): Promise<void> {
  // The policy of a page blocks foreign scripts, so the browser evaluates axe-core itself.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, { resultTypes: ['violations'] })`,
  );
  const found = violations.map(({ id, help, nodes }) => ({
    id,
    help,
    nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`),
  }));
  t.same(found, [], 'no violation of accessibility rules');
}

/**
 * Asserts at night that axe-core finds no violation on a page in another state or view. A push judges
 * each kind of page once: those of the service in `every-page.test.ts`.
 */
export async function assertAccessibleAtNight(t: Test, page: Page): Promise<void> {
  if (isNightly) await assertAccessible(t, page);
}
