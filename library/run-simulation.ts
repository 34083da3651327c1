import type { Scenario, SimulationReport } from '../src/contract/index.ts';
import { randomSeed } from '../src/platform/random.ts';
import type { SimulationSettings } from '../src/service/index.ts';
import { CHAT_CONCURRENCY, VOICE_CONCURRENCY } from '../src/service/simulator/options.ts';
import { kitVersion } from './kit-version.ts';
import { runSimulationPreflight } from './simulation-preflight.ts';

/** Returns whether a run places calls. `channel` replaces that of the scenarios, if the run has one. */
export const placesCalls = (
  scenarios: readonly Scenario[],
  channel: Scenario['channel'] | undefined,
): boolean => scenarios.some((scenario) => (channel ?? scenario.channel) === 'voice');

/** Returns the default number of concurrent sessions. */
export const defaultConcurrency = (hasCalls: boolean): number =>
  hasCalls ? VOICE_CONCURRENCY : CHAT_CONCURRENCY;

/** Valid options of a simulation run. */
export interface SimulationRun extends Omit<
  SimulationSettings,
  'sandbox' | 'seed' | 'kitVersion' | 'preflight' | 'clock'
> {
  url: string;
  seed?: string | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: SimulationReport | undefined;
}

/** Runs simulated users against a sandbox, unless the preflight names a cause that prevents it. */
export async function runSimulation({
  url,
  seed = randomSeed(),
  compareWith,
  ...options
}: SimulationRun): Promise<SimulationReport> {
  const [service, conformance] = await Promise.all([
    import('../src/service/index.ts'),
    import('../conformance/index.ts'),
  ]);
  const { apiKey, ca, connection } = options;
  const report = await service.simulate({
    ...options,
    concurrency: options.concurrency ?? defaultConcurrency(options.voice !== undefined),
    sandbox: url,
    seed,
    kitVersion: kitVersion(),
    preflight: (signal) =>
      runSimulationPreflight(conformance, {
        apiKey,
        ca,
        connection,
        seed,
        signal,
        target: url,
        kitVersion: kitVersion(),
        voice: options.voice && pickAddress(options.voice),
      }),
  });
  const isComparable = compareWith !== undefined && !report.blockedBy;
  return isComparable ? service.withComparison(report, compareWith) : report;
}

/** Returns where and how calls are placed, in the form of the conformance package. */
const pickAddress = ({
  url,
  answerForm,
  mediaAddress,
}: NonNullable<SimulationSettings['voice']>) => ({
  ...(url !== undefined && { url }),
  ...(answerForm && { answerForm }),
  mediaAddress,
});
