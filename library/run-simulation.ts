import type { CheckSettings } from '../conformance/index.ts';
import type { Area, Scenario, SimulationBlocker, SimulationReport } from '../src/contract/index.ts';
import { randomSeed } from '../src/platform/random.ts';
import type { SimulationSettings } from '../src/service/index.ts';
import { CHAT_CONCURRENCY, VOICE_CONCURRENCY } from '../src/service/simulator/options.ts';
import { kitVersion } from './kit-version.ts';
import type { Conformance } from './packages.ts';

/**
 * Returns whether a run places calls. `channel` replaces that of the scenarios, if the run has one.
 */
export const placesCalls = (
  scenarios: readonly Scenario[],
  channel: Scenario['channel'] | undefined,
): boolean =>
  channel === undefined
    ? scenarios.some((scenario) => scenario.channel === 'voice')
    : channel === 'voice';

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
      runPreflight(conformance, {
        ...{ apiKey, ca, connection, seed, signal },
        target: url,
        kitVersion: kitVersion(),
        voice: options.voice && pickAddress(options.voice),
      }),
  });
  const isComparable = compareWith !== undefined && !report.blockedBy;
  return isComparable ? service.withComparison(report, compareWith) : report;
}

/**
 * Returns why no session can run, worded as `check` and `doctor` do; undefined if sessions may run. A
 * healthy sandbox gets no request to its model: chat is tested only to name the cause of a failure, and
 * for a URL that may be wrong.
 */
async function runPreflight(
  conformance: Conformance,
  access: Omit<CheckSettings, 'areas'>,
): Promise<SimulationBlocker | undefined> {
  const needsVoice = access.voice !== undefined;
  const diagnose = (areas: Area[]): ReturnType<typeof conformance.diagnose> =>
    conformance.diagnose({ ...access, areas, needsVoice: areas.includes('voice') });
  const findBlocker = async (areas: Area[]): Promise<SimulationBlocker | undefined> => {
    const { blockedBy } = await diagnose(areas);
    return blockedBy && { message: blockedBy.message, cure: blockedBy.cure };
  };
  const { blockedBy, exchanges } = await diagnose(['health', 'users']);
  const isRefused = exchanges.every(({ response }) => (response?.status ?? 0) >= 400);
  // With /v1 too much, /health may exist, but not the route of chat.
  if (blockedBy || isRefused || /\/v1\/*$/.test(access.target)) {
    const blocker = await findBlocker(['chat', 'health', 'users']);
    if (blocker) return blocker;
  }
  return needsVoice && !blockedBy ? findBlocker(['voice']) : undefined;
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
