import type { SeedDocument, ServiceFault } from '../../../src/contract/index.ts';
import { isoTime, systemClock, MINUTE_MS } from '../../../src/platform/clock.ts';
import { AGENT } from '../../areas/client/reference.ts';
import { clientSuite } from '../../areas/index.ts';
import type { Variant } from '../../engine/mutants/mutant.ts';
import { judgeTranscript, type Judgment } from '../../engine/judge/judge.ts';
import { retryFaults, toClientTranscript, type ClientRecording } from '../../judge-client.ts';
import { startProxy } from '../proxy.ts';
import { runReferenceClient } from './reference-client.ts';

/** A service that records its callers. */
export interface RecordingService {
  url: string;
  apiKey: string;
  setFaults(faults: readonly ServiceFault[]): void;
  callerRecording(): Promise<ClientRecording | undefined>;
  stop(): Promise<void>;
}

/** Starts a service that records its callers. The CLI passes it, because packages do not import each other. */
export type StartRecordingService = (options: { seed: SeedDocument }) => Promise<RecordingService>;

/** Starts a service, and runs the reference client through a proxy that changes its requests. */
export async function judgeDistortedClient(
  { transform }: Pick<Variant, 'transform'>,
  startService: StartRecordingService,
  kitVersion: string,
): Promise<Judgment> {
  // The service records clients in real time.
  const clock = systemClock;
  const service = await startService({ seed: createSeedDocument(clock.nowMs()) });
  try {
    service.setFaults(retryFaults);
    const proxy = await startProxy({ upstream: service.url, transform: transform(), clock });
    await runReferenceClient({ url: proxy.url, apiKey: service.apiKey, clock }).finally(() =>
      proxy.stop(),
    );
    const recording = await service.callerRecording();
    if (!recording) throw new Error('The service does not record its callers.');
    const transcript = toClientTranscript({ recording, target: service.url, kitVersion });
    return judgeTranscript(clientSuite, transcript);
  } finally {
    await service.stop();
  }
}

/** More than the default size of a page. */
const SESSIONS = 60;

/** Creates seed data with several pages of sessions, apart from the sessions of the client. */
export function createSeedDocument(nowMs: number): SeedDocument {
  const sessions = Array.from({ length: SESSIONS }, (_, index) => ({
    scenario: 'late-parcel',
    persona: `persona-${index}`,
    started_at: isoTime(nowMs - (index + 2) * MINUTE_MS),
    ended_at: isoTime(nowMs - (index + 1) * MINUTE_MS),
    turns: [],
    outcomes: [{ eval_name: 'Polite', outcome: 'pass' as const, reasoning: 'It was.' }],
  }));
  return {
    agents: [{ name: AGENT, url: 'https://shop.example/agent' }],
    simulations: [{ name: 'Nightly', agent: AGENT, sessions }],
  };
}
