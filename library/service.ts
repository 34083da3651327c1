import type { JudgeClientOptions } from '../conformance/index.ts';
import { judgeClientOptions } from '../conformance/options.ts';
import type { CheckReport } from '../src/contract/index.ts';
import { optionsSchema } from '../src/options/table.ts';
import { isoTime, systemClock } from '../src/platform/clock.ts';
import { isObject } from '../src/platform/json.ts';
import * as schemas from '../src/platform/options.ts';
import { SandboxKitError } from '../src/platform/sandbox-kit-error.ts';
import {
  startService as startRecordedService,
  type RunningService,
  type ServiceOptions,
} from '../src/service/index.ts';
import { createKitFunctions } from './kit-functions.ts';
import { kitVersion } from './kit-version.ts';
import { rejectKnownFailures } from './known-failures.ts';

/** A service that can judge its clients. */
export interface JudgingService extends RunningService {
  /**
   * Judges all requests that clients have sent to the service, and returns the report that
   * `sandbox-kit exec --judge-client --json` writes. A client that sent no request is not judged.
   *
   * @throws {TypeError} if an option is unknown or invalid, or the service does not record its callers.
   */
  judgeClient(options?: JudgeClientOptions): Promise<CheckReport>;
}

const judgeClientSchema = optionsSchema(judgeClientOptions);

/**
 * Starts the service: area A of the interface, `/__admin`, and the pages of the deep links. It records
 * its callers unless `recordCallers` is false.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @throws {SandboxKitError} `start_failed` if it can't start on this machine.
 */
export async function startService(options: Partial<ServiceOptions> = {}): Promise<JudgingService> {
  const service = await startRecordedService(
    isObject(options)
      ? {
          ...options,
          recordCallers: options.recordCallers ?? true,
          kit: createKitFunctions(),
        }
      : options,
  );
  return {
    ...schemas.rejectArguments({ ...service, ...rejectAfterStop(service) }),
    judgeClient: (judgeOptions = {}) => judgeClient(service, judgeOptions),
  };
}

type NeedsRunning = 'drain' | 'sessions' | 'ingestLog' | 'advance' | 'reset' | 'stop';

/** Returns the methods that need a running service, so that they say so after `stop()`. */
function rejectAfterStop(service: RunningService): Pick<RunningService, NeedsRunning> {
  let isStopped = false;
  const checkRunning = (method: string): void => {
    if (!isStopped) return;
    const message = `${method}: The service is stopped. Call ${method}() before stop().`;
    throw new SandboxKitError('stopped', message);
  };
  return {
    async drain() {
      checkRunning('drain');
      await service.drain();
    },
    async sessions() {
      checkRunning('sessions');
      return service.sessions();
    },
    async ingestLog() {
      checkRunning('ingestLog');
      return service.ingestLog();
    },
    async advance(ms) {
      checkRunning('advance');
      await service.advance(ms);
    },
    async reset(to) {
      checkRunning('reset');
      await service.reset(to);
    },
    stop() {
      isStopped = true;
      return service.stop();
    },
  };
}

async function judgeClient(
  service: RunningService,
  options: JudgeClientOptions,
): Promise<CheckReport> {
  schemas.validateOptions('judgeClient', judgeClientSchema, options);
  const recording = await service.callerRecording();
  if (!recording) {
    throw new TypeError('judgeClient: the service was started with recordCallers: false.');
  }
  const conformance = await import('../conformance/index.ts');
  const { strict = false, knownFailures = [] } = options;
  rejectKnownFailures('judgeClient', { knownFailures, areas: conformance.clientArea }, conformance);
  const endedAt = isoTime(systemClock.nowMs());
  const { report } = conformance.judgeClient({
    recording,
    strict,
    endedAt,
    target: service.url,
    kitVersion: kitVersion(),
  });
  return conformance.applyKnownFailures(report, knownFailures);
}
