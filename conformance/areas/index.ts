import type { Area, RunRecord } from '../../src/contract/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { createSuite, requirementOf, type Suite } from '../engine/area.ts';
import { areaOf, type Requirement, type RequirementId } from '../engine/requirement.ts';
import type { Transcript } from '../engine/transcript/reading.ts';
import { isVoiceAbsent, UPGRADE } from '../engine/transcript/call-messages.ts';
import { chat } from './chat/index.ts';
import { client, findSilence } from './client/index.ts';
import { hideText } from './client/shown.ts';
import { health } from './health/index.ts';
import { diagnoseSandbox } from './diagnoses/index.ts';
import { sandboxRepairs } from './sandbox-repairs.ts';
import { createSandboxState } from './sandbox-state.ts';
import { createServiceContext } from './service/context.ts';
import { diagnoseService } from './service/diagnoses/index.ts';
import { service } from './service/index.ts';
import { users } from './users/index.ts';
import { voice } from './voice/index.ts';

/** What is checked of a sandbox. */
export const sandboxSuite: Suite = createSuite({
  peer: 'sandbox',
  areas: [chat, health, users, voice],
  startOrder: [health, users, chat, voice],
  createState: () => ({ state: createSandboxState(), secrets: [] }),
  authorize: (key) => ({ authorization: `Bearer ${key}` }),
  findKeyedExchange({ run, exchanges }) {
    // Health needs no key.
    if (run.areas.join() === 'health') return undefined;
    const chatExchange = exchanges.find(({ endpoint }) => endpoint === 'chat');
    if (chatExchange) return chatExchange;
    if (run.areas.join() !== 'voice')
      return exchanges.find(({ endpoint }) => endpoint === 'create');
    // A missing endpoint may be refused with 401, too.
    return isVoiceAbsent(exchanges)
      ? undefined
      : exchanges.find(({ endpoint, step }) => endpoint === 'voice' && step === UPGRADE);
  },
  repeatsFailures: true,
  isBlockedByErrors: false,
  diagnose: diagnoseSandbox,
  repairs: sandboxRepairs,
  cures: {
    keyMissing: 'Set SANDBOX_KIT_API_KEY to the bearer key, or pass --api-key-file FILE.',
    keyRefused:
      'Compare the key in SANDBOX_KIT_API_KEY or --api-key-file with the one that the sandbox expects.',
    noInterface:
      'Check the path of the URL. The kit appends /health, /users and /v1/chat/completions to it.',
  },
});

/** What is checked of the evaluation service. */
export const serviceSuite: Suite = createSuite({
  peer: 'service',
  areas: [service],
  createState({ clock, seed, startedAt, intrusive, signal }) {
    const random = seededRandom(`${seed}/${startedAt}`);
    const context = createServiceContext({ clock, random, intrusive, signal });
    return { state: { service: context }, secrets: context.runKeys() };
  },
  authorize: (key, headerName) => ({ [headerName]: key }),
  findKeyedExchange: ({ exchanges }) => exchanges.find(({ endpoint }) => endpoint === 'production'),
  repeatsFailures: false,
  isBlockedByErrors: true,
  diagnose: diagnoseService,
  repairs: () => [],
  cures: {
    keyMissing:
      'Set SANDBOX_KIT_SERVICE_API_KEY to the key, or pass --api-key-file FILE. --api-key-header sets the header name.',
    keyRefused:
      'Compare the key in SANDBOX_KIT_SERVICE_API_KEY or --api-key-file with the one that the service expects. --api-key-header sets the header name.',
    noInterface:
      'Check the path of the URL. The kit appends /v1/traces and /api/prod-evaluations/sessions/ to it.',
  },
});

/** The suite for a client of the service, which is judged from the recording of the service. */
export const clientSuite: Suite = createSuite({
  peer: 'client',
  areas: [client],
  createState: () => ({ state: {}, secrets: [] }),
  authorize: () => ({}),
  findKeyedExchange: () => undefined,
  repeatsFailures: false,
  isBlockedByErrors: false,
  findRecordingCause: findSilence,
  toShown: hideText,
  diagnose: () => [],
  repairs: () => [],
  cures: { keyMissing: '', keyRefused: '', noInterface: '' },
});

/** Returns the suite for a run. The service and a client of it are judged alone. */
export function suiteOf({ areas }: { areas: readonly Area[] }): Suite {
  if (areas.includes('client')) return clientSuite;
  return areas.includes('service') ? serviceSuite : sandboxSuite;
}

/** Returns the names of the areas of a suite. */
export function areaNamesOf({ areas }: Suite): readonly Area[] {
  return areas.map(({ name }) => name);
}

const suites = [sandboxSuite, serviceSuite, clientSuite];

/** All areas, in the order of reports. */
export const allAreas: readonly Area[] = suites.flatMap(areaNamesOf);

/** The ids of all requirements of a sandbox, in the order of the ledger. */
export const { requirementIds } = sandboxSuite;

/** The ids of all requirements of the service. */
export const serviceRequirementIds = serviceSuite.requirementIds;

/** Returns the requirements of the service that only a run with a control API can judge. */
export function listNeedingControlApi(): RequirementId[] {
  const run = { areas: ['service'], intrusive: true } as Partial<RunRecord> as RunRecord;
  const nothingSent: Transcript = { run, exchanges: [] };
  return serviceRequirementIds.filter(
    (id) => serviceSuite.checks[id]?.unjudged(nothingSent).needs === 'control_api',
  );
}

/** The ids of all requirements of a client of the service. */
export const clientRequirementIds = clientSuite.requirementIds;

/** The ids of all requirements, in the order of reports. */
export const allRequirementIds: readonly RequirementId[] = suites.flatMap(
  (suite) => suite.requirementIds,
);

/** Every requirement by id. */
export const requirements: Readonly<Record<RequirementId, Requirement>> = Object.assign(
  {},
  ...suites.map((suite) => suite.requirements),
) as Record<RequirementId, Requirement>;

/** Returns the requirement of an id. */
export function requirement(id: RequirementId): Requirement {
  return requirementOf({ requirements }, id);
}

/** Returns the ids of the requirements of an area. */
export function idsOf(area: Area): RequirementId[] {
  return allRequirementIds.filter((id) => areaOf(id) === area);
}

/** Returns the ids of the requirements that judge a run. */
export function idsOfRun(run: { areas: readonly Area[] }): readonly RequirementId[] {
  return suiteOf(run).requirementIds;
}

/** Whether a run checks the service. A run of a sandbox never does. */
export function isServiceRun(run: { areas: readonly Area[] }): boolean {
  return suiteOf(run) === serviceSuite;
}

/** Whether a run judges a client of the service. */
export function isClientRun(run: { areas: readonly Area[] }): boolean {
  return suiteOf(run) === clientSuite;
}

export { areaOf, type Requirement, type RequirementId } from '../engine/requirement.ts';
export { untestable } from './untestable.ts';
