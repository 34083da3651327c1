import { formatEntry } from '../../http-kit/journal.ts';
import { parseMessage } from '../domain/document-checks.ts';
import { RequestError } from '../domain/errors.ts';
import type { ServiceControls } from './controls.ts';
import { parseFaults } from './faults.ts';
import { listIngestLog, resetOwner, changeClock, type AdminOptions } from './routes.ts';
import { listVerdicts } from './sessions.ts';
import { drain } from './work.ts';

/** Creates the test controls of a service. They call the same functions as the routes. */
export function createControls(options: AdminOptions & { ownerName: string }): ServiceControls {
  const { faults, journal, owners, ownerName } = options;
  const findOwner = (): Promise<string> => owners.ensure(ownerName);
  return {
    async drain() {
      await explainErrors('drain', () => drain(options));
    },
    sessions: async () => listVerdicts(options, await findOwner()),
    async advance(ms) {
      await explainErrors('advance', () => changeClock(options, { advance_ms: ms }));
    },
    setFaults: (values) => explainError('setFaults', () => faults.replaceAll(parseFaults(values))),
    addFault: (value) =>
      explainError('addFault', () => faults.add(parseMessage('ServiceFault', value))),
    clearFaults: () => faults.replaceAll([]),
    faults: () => faults.statuses(),
    requests: () => journal.entries().map(formatEntry),
    clearRequests: () => journal.clear(),
    ingestLog: async () => listIngestLog(options, await findOwner()),
    async reset(to) {
      await explainErrors('reset', async () => {
        await resetOwner(options, await findOwner(), parseMessage('ResetRequest', { to }).to);
      });
    },
  };
}

/** Rethrows an error that a route would respond with, for callers of a method. */
function explain(caller: string, error: unknown): Error {
  if (!(error instanceof RequestError)) throw error;
  const message = `${caller}: ${error.message}`;
  return error.code === 'bad_request'
    ? new TypeError(message, { cause: error })
    : new Error(message, { cause: error });
}

function explainError(caller: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    throw explain(caller, error);
  }
}

async function explainErrors(caller: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw explain(caller, error);
  }
}
