import type { SimulatedSessionReport } from '../../../contract/index.ts';
import type { CallSummary } from '../../store/store.ts';
import type { OnRecorded } from './build-recording.ts';

/** Collects the levels of the calls of a simulation, for its page. */
export interface CallSummaries {
  /** Measures a call in the background. */
  add: OnRecorded;
  /** Returns what finds the levels of a session, when all calls are measured. */
  collect(): Promise<(session: SimulatedSessionReport) => CallSummary | undefined>;
}

/** Creates the levels of the calls of a simulation. */
export function createCallSummaries(): CallSummaries {
  const measured = new Map<string, Promise<CallSummary | undefined>>();
  return {
    add({ sessionId }, call) {
      // Loaded only after a call, because it loads the audio modules.
      const summary = import('./build-recording.ts')
        .then(({ summarizeCall }) => summarizeCall(call))
        // A call that can't be measured has no waveform.
        .catch(() => undefined);
      measured.set(sessionId, summary);
    },
    async collect() {
      const found = new Map<string, CallSummary | undefined>();
      for (const [id, summary] of measured) found.set(id, await summary);
      return ({ id }) => found.get(id);
    },
  };
}
