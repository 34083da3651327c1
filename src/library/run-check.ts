import type * as conformanceModule from '../../conformance/index.ts';
import { isLoopbackUrl } from '../platform/loopback.ts';
import { randomSeed } from '../platform/random.ts';
import type { CheckOptions } from './check-options.ts';
import { kitVersion } from './kit-version.ts';
import { connectionOf } from './options.ts';
import { resolveCallTarget } from './call-target.ts';
import { resolveSelection, type ResolvedSelection } from './selection.ts';

type Conformance = typeof conformanceModule;
type PackageOptions = Parameters<Conformance['check']>[0];

/** Callbacks that only the CLI uses. */
export interface CheckHooks {
  /** Called with a sentence for people while the run waits for the peer to come back. */
  onWaiting?: PackageOptions['onWaiting'];
  /** Called when a phase of the run starts. */
  onPhase?: PackageOptions['onPhase'];
  /** Called with the audio of every call that has any. */
  onAudio?: NonNullable<PackageOptions['voice']>['onAudio'] | undefined;
}

/**
 * Returns the options that determine what a check sends and judges.
 *
 * @throws {SelectionError} if they select no requirement, or an unknown requirement or set.
 */
export function selectionOf(
  {
    url = '',
    areas: chosen,
    prompts,
    intrusive,
    ...requirements
  }: { url?: string | undefined } & Pick<
    CheckOptions,
    'areas' | 'prompts' | 'intrusive' | 'only' | 'skip' | 'requirements'
  >,
  conformance: Conformance,
): CheckSelection {
  const areas = chosen ?? conformance.areas;
  const isService = areas.includes('service');
  return {
    ...resolveSelection(requirements, { areas }, conformance),
    prompts: prompts && prompts.length > 0 ? prompts : undefined,
    intrusive: isService ? (intrusive ?? isLoopbackUrl(url)) : undefined,
  };
}

type CheckSelection = Parameters<Conformance['planCheck']>[0] & ResolvedSelection;

/** Checks a peer with valid options. Returns the report and the recorded exchanges. */
export async function runCheck(
  options: CheckOptions & CheckHooks,
): Promise<Awaited<ReturnType<Conformance['check']>>> {
  const { url, seed = randomSeed(), compareWith, knownFailures = [], onAudio } = options;
  const { apiKey, apiKeyHeader, ca, allowHttp, concurrency, timeoutMs, strict, signal } = options;
  const { onExchange, onWaiting, onPhase } = options;
  const conformance = await import('../../conformance/index.ts');
  const { transcript, report } = await conformance.check({
    ...selectionOf(options, conformance),
    ...{ apiKey, apiKeyHeader, ca, allowHttp, concurrency, timeoutMs, strict, signal, seed },
    connection: connectionOf(options),
    target: url,
    kitVersion: kitVersion(),
    ratePerSecond: options.rate,
    voice: { ...resolveCallTarget(options.voice), ...(onAudio && { onAudio }) },
    onExchange,
    onWaiting,
    onPhase,
  });
  const judged = conformance.applyKnownFailures(report, knownFailures);
  return {
    transcript,
    report: compareWith ? conformance.compareReports(judged, compareWith) : judged,
  };
}
