import { describeArgument, schemas } from '../../contract/index.ts';
import { rejectFault, rejectFaults, type FindFaultProblem } from '../../http-kit/faults.ts';
import { formatEntry } from '../../http-kit/journal.ts';
import {
  validateOptions,
  enumOption,
  integerOption,
  optionsObject,
} from '../../platform/options.ts';
import { SandboxKitError } from '../../platform/sandbox-kit-error.ts';
import { RequestError } from '../requests/errors.ts';
import { changeClock } from './clock.ts';
import type { ServiceControls } from './controls.ts';
import { listIngestLog } from './logs.ts';
import { resetOwner } from './reset.ts';
import type { AdminOptions } from './routes.ts';
import { listVerdicts } from './sessions.ts';
import { drain } from './work.ts';

const findFaultProblem: FindFaultProblem = (argument, fault) =>
  describeArgument(argument, 'ServiceFault', fault);

const { minimum, maximum } = schemas.ClockChange.properties.advance_ms;
const advanceArguments = optionsObject<{ ms: number }>({ ms: integerOption(minimum, maximum) }, [
  'ms',
]);
const resetArguments = optionsObject<{ to: string }>({ to: enumOption(['seed', 'empty']) }, ['to']);

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
      validateOptions('advance', advanceArguments, { ms });
      await explainErrors('advance', () => changeClock(options, { advance_ms: ms }, 'ms'));
    },
    setFaults(values) {
      rejectFaults('setFaults', values, findFaultProblem);
      inBackground(faults.replaceAll(values));
    },
    addFault(fault) {
      rejectFault('addFault', fault, findFaultProblem);
      explainError('addFault', () => inBackground(faults.add(fault)));
    },
    clearFaults: () => inBackground(faults.replaceAll([])),
    faults: () => faults.statuses(),
    requests: () => journal.entries().map(formatEntry),
    clearRequests: () => inBackground(options.clearRequests()),
    ingestLog: async () => listIngestLog(options, await findOwner()),
    async reset(to) {
      validateOptions('reset', resetArguments, { to });
      await resetOwner(options, await findOwner(), to);
    },
  };
}

/** This process has applied the change; other replicas apply it a moment later. */
function inBackground(applied: Promise<void>): void {
  // A failure is in the log.
  applied.catch(() => undefined);
}

/** Rethrows an error that a route would respond with, for callers of a method. */
function explain(caller: string, error: unknown): Error {
  if (!(error instanceof RequestError)) throw error;
  const message = `${caller}: ${error.message}`;
  if (error.code === 'bad_request') return new TypeError(message, { cause: error });
  if (error.code === 'busy') return new SandboxKitError('timeout', message, { cause: error });
  throw error;
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
