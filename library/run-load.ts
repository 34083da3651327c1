import type { LoadOptions, LoadRun } from '../load/index.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { kitVersion } from './kit-version.ts';
import { connectionOf } from './connection.ts';
import type { PreparedLoad } from './load-plan.ts';
import { defaultLoadSeed } from './load-shard.ts';
import { runLoadPreflight } from './load-preflight.ts';

/** Load-tests a sandbox with valid options and prepared settings. */
export async function runLoad(
  options: LoadOptions,
  { settings, plan }: Pick<PreparedLoad, 'settings' | 'plan'>,
): Promise<LoadReport> {
  const { url, apiKey, ca, lines, compareWith, onProgress = () => {} } = options;
  const { seed = defaultLoadSeed(options.shard), signal = new AbortController().signal } = options;
  const [loadPackage, conformance] = await Promise.all([
    import('../load/index.ts'),
    import('../conformance/index.ts'),
  ]);
  // An error of the callback ends the run like a signal. It must not escape from a timer.
  const failing = new AbortController();
  const onTick: typeof onProgress = (live) => {
    try {
      onProgress(live);
    } catch (error) {
      failing.abort(error);
    }
  };
  const access = { kitVersion: kitVersion(), seed, apiKey, ca, connection: connectionOf(options) };
  const run: LoadRun = {
    ...settings,
    ...access,
    sandbox: url,
    lines,
    clock: systemClock,
    validateResponse: conformance.findBrokenMusts,
    preflight: (preflightSignal) =>
      runLoadPreflight(conformance, {
        ...access,
        // Shards start together: with one seed, all would create the same user, and all but one get 409.
        seed: settings.shard ? `${seed}/${settings.shard.index}` : seed,
        target: url,
        profile: settings.profile,
        voiceUrl: settings.voice?.url,
        signal: preflightSignal,
      }),
    onTick,
    signal: AbortSignal.any([signal, failing.signal]),
  };
  const report = await loadPackage.load(run, plan);
  failing.signal.throwIfAborted();
  const isComparable = compareWith !== undefined && loadPackage.hasRun(report);
  return isComparable ? loadPackage.withComparison(report, compareWith) : report;
}
