import type { SeedDocument, ServiceFault } from '../../../src/contract/index.ts';
import { isoTime, systemClock } from '../../../src/platform/clock.ts';
import { clientSuite } from '../../areas/index.ts';
import type { Transform, Variant } from '../../engine/mutants/mutant.ts';
import { judgeTranscript, type Judgment } from '../../engine/judge/judge.ts';
import { judgeClient, type ClientRecording } from '../../judge-client.ts';
import { startProxy } from '../proxy.ts';
import { runReferenceClient } from './reference-client.ts';
import { createSeedDocument } from './sessions.ts';

/** A service that records its callers. */
export interface RecordingService {
  url: string;
  apiKey: string;
  adminUrl: string;
  callerRecording(): Promise<ClientRecording | undefined>;
  stop(): Promise<void>;
}

/** Starts a service that records its callers. The CLI passes it, because packages do not import each other. */
export type StartRecordingService = (options: { seed: SeedDocument }) => Promise<RecordingService>;

/** Faults that provoke each kind of retry. */
const faults: readonly ServiceFault[] = [
  { kind: 'rate_limit', route: 'traces', retry_after_s: 1, times: 1 },
  { kind: 'unavailable', route: 'traces', retry_after_s: 1, times: 1 },
  { kind: 'unavailable', route: 'end', retry_after_s: 1, times: 1 },
];

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
    await setFaults(service);
    const proxy = await startProxy({ upstream: service.url, transform: transform(), clock });
    await runReferenceClient({ url: proxy.url, apiKey: service.apiKey, clock }).finally(() =>
      proxy.stop(),
    );
    const recording = await service.callerRecording();
    if (!recording) throw new Error('The service does not record its callers.');
    const endedAt = isoTime(clock.nowMs());
    const judged = judgeClient({ recording, target: service.url, kitVersion, endedAt });
    return judgeTranscript(clientSuite, judged.transcript);
  } finally {
    await service.stop();
  }
}

async function setFaults({ adminUrl }: RecordingService): Promise<void> {
  const response = await fetch(`${adminUrl}/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
  if (!response.ok) throw new Error(`The service refused the faults with ${response.status}.`);
}

/** Forwards every request unchanged. */
export const unchanged = (): Transform => (request, forward) => forward(request);
