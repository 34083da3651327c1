import type { Test } from 'tap';
import { judgeClient, type CheckResult } from '../../../conformance/index.ts';
import type { SeedDocument, ServiceFault } from '../../../src/contract/index.ts';
import type { RunningService } from '../../../src/service/index.ts';
import { withStartedService } from '../services/started-service.ts';
import { idsWith } from './verdicts.ts';

/** The addresses and the key that a client needs. */
export type Target = Pick<RunningService, 'url' | 'apiKey' | 'adminUrl'>;

/** The setup of the service that records a client. */
export interface ClientSetup {
  seed?: SeedDocument;
  faults?: readonly ServiceFault[];
}

/** A judged client. */
interface JudgedClient extends CheckResult {
  /** Ids of the requirements with the verdict `fail`. */
  failed: string[];
  /** Ids of the requirements with the verdict `warn`. */
  warned: string[];
}

/** Faults that provoke each kind of retry. */
export const retryFaults: readonly ServiceFault[] = [
  { kind: 'rate_limit', route: 'traces', retry_after_s: 1, times: 1 },
  { kind: 'unavailable', route: 'traces', retry_after_s: 1, times: 1 },
];

/** Runs a client against a service that records it, and judges the recording. */
export async function judgeRun(
  t: Test,
  client: (target: Target) => Promise<unknown>,
  { seed, faults = [] }: ClientSetup = {},
): Promise<JudgedClient> {
  const service = await withStartedService(t, { recordCallers: true, ...(seed && { seed }) });
  const response = await fetch(`${service.adminUrl}/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
  t.equal(response.status, 200, 'the faults are set');
  await client(service);
  const recording = await service.callerRecording();
  if (!recording) throw new Error('The service does not record its callers.');
  const { startedAt: endedAt } = recording;
  const judged = judgeClient({ recording, target: service.url, kitVersion: 'test', endedAt });
  const { report } = judged;
  t.same(idsWith(report, 'error'), [], 'no check throws');
  return { ...judged, failed: idsWith(report, 'fail'), warned: idsWith(report, 'warn') };
}
