import { suiteOf } from '../../../conformance/areas/index.ts';
import { runProbes, type RunSettings } from '../../../conformance/engine/drive/run.ts';
import type { Transcript } from '../../../conformance/engine/transcript/transcript.ts';
import type { RunningService } from '../../../src/service/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';

/** Runs the probes of the service (default: also the intrusive ones) and returns the transcript. */
export function recordRun(
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  more: Partial<RunSettings> = {},
): Promise<Transcript> {
  return runProbes(suiteOf({ areas: more.areas ?? ['service'] }), {
    target: url,
    areas: ['service'],
    apiKey,
    ca: undefined,
    seed: 'recorded',
    kitVersion: 'test',
    clock: systemClock,
    concurrency: 6,
    rate: undefined,
    timeoutMs: 30_000,
    allowHttp: false,
    prompts: [],
    preflightOnly: false,
    intrusive: true,
    onExchange() {},
    ...more,
  });
}
