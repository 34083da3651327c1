/** Accessibility of pages, judged by axe-core in the browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** Asserts that axe-core finds no violation on a page. */
export async function assertAccessible(t: Test, page: Page): Promise<void> {
  // The policy of a page blocks foreign scripts, so the browser evaluates axe-core itself.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResult>('axe.run(document)');
  const found = violations.map(({ id, help, nodes }) => ({
    ...{ id, help },
    nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`),
  }));
  t.same(found, [], 'no violation of accessibility rules');
}
