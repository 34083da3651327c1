import type { CheckOptions, CheckResult, CheckSettings } from '../conformance/index.ts';
import { isLoopbackUrl } from '../src/platform/loopback.ts';
import { randomSeed } from '../src/platform/random.ts';
import { resolveCallTarget } from './call-target.ts';
import { connectionOf } from './connection.ts';
import { kitVersion } from './kit-version.ts';
import { resolveSelection, type ResolvedSelection, type SelectionSource } from './selection.ts';
import type { Conformance } from './packages.ts';

/** Callbacks that only the CLI uses. */
export interface CheckHooks {
  /** Called with a sentence for people while the run waits for the peer to come back. */
  onWaiting?: CheckSettings['onWaiting'];
  /** Called when a phase of the run starts. */
  onPhase?: CheckSettings['onPhase'];
  /** Called with the audio of every call that has any. */
  onAudio?: NonNullable<CheckSettings['voice']>['onAudio'] | undefined;
}

/** What a check sends and judges. */
export type CheckSelection = ResolvedSelection & Pick<CheckSettings, 'prompts' | 'intrusive'>;

/**
 * Returns what a check with these options sends and judges.
 *
 * @throws {SelectionError} if the options select no requirement, or an unknown requirement or set.
 */
export function selectionOf(
  options: Omit<CheckOptions, 'url'> & { url?: string | undefined },
  conformance: Conformance,
  spell?: SelectionSource['spell'],
): CheckSelection {
  const { url = '', areas = conformance.areas, prompts = [], intrusive } = options;
  const isService = areas.includes('service');
  return {
    ...resolveSelection(options, { areas, spell }, conformance),
    prompts: prompts.length > 0 ? prompts : undefined,
    intrusive: isService ? (intrusive ?? isLoopbackUrl(url)) : undefined,
  };
}

/** Checks a peer with valid options. Returns the report and the recorded exchanges. */
export async function runCheck(
  {
    url,
    seed = randomSeed(),
    voice,
    onAudio,
    knownFailures = [],
    compareWith,
    ...options
  }: CheckOptions & CheckHooks,
  selection: CheckSelection,
): Promise<CheckResult> {
  const conformance = await import('../conformance/index.ts');
  const { transcript, report } = await conformance.check({
    ...options,
    ...selection,
    target: url,
    kitVersion: kitVersion(),
    seed,
    connection: connectionOf(options),
    voice: { ...resolveCallTarget(voice), ...(onAudio && { onAudio }) },
  });
  const judged = conformance.applyKnownFailures(report, knownFailures);
  return {
    transcript,
    report: compareWith ? conformance.compareReports(judged, compareWith) : judged,
  };
}
