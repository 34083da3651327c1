import type { CheckReport } from '../contract/index.ts';
import { isoTime, systemClock } from '../platform/clock.ts';
import { isObject } from '../platform/json.ts';
import * as schemas from '../platform/options.ts';
import {
  startService as startRecordedService,
  type RunningService,
  type ServiceOptions,
} from '../service/index.ts';
import { kitVersion } from './kit-version.ts';
import { rejectKnownFailures } from './known-failures.ts';
import { knownFailuresOption, type KnownFailure } from './options.ts';

/** Options of `service.judgeClient`. */
export interface JudgeClientOptions {
  /** Treats warnings as failures (default: false). */
  strict?: boolean | undefined;
  /** Failures to accept, each with the reason. */
  knownFailures?: readonly KnownFailure[] | undefined;
}

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

const judgeClientOptionsSchema = schemas.optionsObject<JudgeClientOptions>({
  strict: schemas.booleanOption,
  knownFailures: knownFailuresOption,
});

/**
 * Starts the service: area A of the interface, `/__admin`, and the pages of the deep links. It records
 * its callers unless `recordCallers` is false.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @throws {SandboxKitError} `start_failed` if it can't start on this machine.
 */
export async function startService(options: Partial<ServiceOptions> = {}): Promise<JudgingService> {
  const service = await startRecordedService(
    isObject(options) ? { ...options, recordCallers: options.recordCallers ?? true } : options,
  );
  return {
    ...schemas.rejectArguments(service),
    judgeClient: (judgeOptions = {}) => judgeClient(service, judgeOptions),
  };
}

async function judgeClient(
  service: RunningService,
  options: JudgeClientOptions,
): Promise<CheckReport> {
  schemas.checkOptions('judgeClient', judgeClientOptionsSchema, options);
  const recording = await service.callerRecording();
  if (!recording) {
    throw new TypeError('judgeClient: the service was started with recordCallers: false.');
  }
  const conformance = await import('../../conformance/index.ts');
  const { strict = false, knownFailures = [] } = options;
  rejectKnownFailures('judgeClient', { knownFailures, areas: conformance.clientArea }, conformance);
  const endedAt = isoTime(systemClock.nowMs());
  const { report } = conformance.judgeClient({
    ...{ recording, strict, endedAt, target: service.url, kitVersion: kitVersion() },
  });
  return conformance.applyKnownFailures(report, knownFailures);
}
