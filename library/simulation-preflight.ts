import type { CheckSettings, Diagnosis } from '../conformance/index.ts';
import { findHealthProblem, type Area, type SimulationBlocker } from '../src/contract/index.ts';
import type { Conformance } from './packages.ts';

/**
 * Returns why no session can run, worded as `check` and `doctor` do; undefined if sessions may run. A
 * healthy sandbox gets no request to its model: chat is tested only to name the cause of a failure, and
 * for a URL that may be wrong.
 */
export async function runSimulationPreflight(
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
  if (blockedBy || isRefused || conformance.endsInPrefix(access.target)) {
    const blocker = await findBlocker(['chat', 'health', 'users']);
    if (blocker) return blocker;
  }
  const invalidHealth = findInvalidHealth(exchanges, access.target);
  if (invalidHealth) return invalidHealth;
  return needsVoice && !blockedBy ? findBlocker(['voice']) : undefined;
}

/**
 * Returns a blocker if the response of `/health` would stop every session. After a 429 or an error of the
 * server, the next response may be another one.
 */
function findInvalidHealth(
  exchanges: Diagnosis['exchanges'],
  target: string,
): SimulationBlocker | undefined {
  const last = exchanges.findLast(({ endpoint }) => endpoint === 'health');
  const status = last?.response?.status ?? 500;
  if (status >= 500 || status === 429) return undefined;
  const problem = findHealthProblem(status, last?.json);
  if (problem === undefined) return undefined;
  return {
    message: `GET /health returned ${problem}.`,
    cure: `Every session needs a valid response of /health. To check it, run sandbox-kit check ${target} --area health.`,
  };
}
