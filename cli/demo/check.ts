import type * as conformanceModule from '../../conformance/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { randomSeed } from '../../src/platform/random.ts';
import { kitVersion } from '../../library/kit-version.ts';
import type { Terminal } from '../output/terminal.ts';

/** These areas take seconds to check. For voice, the demo shows one call. */
const TEXT_AREAS = ['chat', 'health', 'users'] as const;

/**
 * Checks a sandbox, and shows the verdict and each failure. With `keep`, also shows the curl commands of
 * failures: without it, the sandbox ends with the demo.
 */
export async function showCheck(
  conformance: typeof conformanceModule,
  target: string,
  { out, keep }: { out: Terminal; keep: boolean },
): Promise<string> {
  const startedMs = systemClock.monotonicMs();
  const { report } = await conformance.check({
    target,
    kitVersion: kitVersion(),
    seed: randomSeed(),
    areas: TEXT_AREAS,
  });
  const tookMs = systemClock.monotonicMs() - startedMs;
  // The demo writes no report, so no request can be sent again from one.
  const { resendable: _, ...shown } = report;
  const excerpt = {
    ...shown,
    observedBehavior: {},
    waived: [],
    requirements: report.requirements
      .filter(({ verdict }) => ['fail', 'warn'].includes(verdict))
      .map(({ curl, ...row }) => ({ ...row, ...(keep && curl !== undefined && { curl }) })),
  };
  const { style, width } = out;
  const text = conformance.terminalReport(excerpt, { style, width: width - 3, tookMs });
  out.write(text.replaceAll(/^(?=.)/gm, '   '));
  return report.verdict;
}
