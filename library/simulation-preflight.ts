import type { CheckSettings } from '../conformance/index.ts';
import type { Area, SimulationBlocker } from '../src/contract/index.ts';
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
  return needsVoice && !blockedBy ? findBlocker(['voice']) : undefined;
}
