import { serviceOptions, type dataOptions } from '../../src/service/options.ts';
import type { RunningService } from '../../src/service/index.ts';
import { libraryValues, type FlagValues } from '../../src/options/table.ts';
import { isLoopbackHost } from '../../src/platform/loopback.ts';
import { createLog } from '../../src/platform/log.ts';
import { UnavailableError, UsageError } from '../errors.ts';
import { readDatabaseUrl } from '../input/database-url.ts';
import { readSeedFile } from '../../library/input/documents.ts';
import { createKitFunctions } from '../../library/kit-functions.ts';
import { describeServiceKey, readServiceKey, type KeyFlags } from '../input/keys.ts';
import { readEndpoint, readModelEndpoint } from '../input/model-endpoints.ts';
import { createTerminal } from '../output/terminal.ts';
import type { CommandProcess } from '../process.ts';
import { findPortInUse } from './port-in-use.ts';

/** The values that `startServiceFor` needs; others of `serve` are optional. */
type ServiceValues = FlagValues<typeof dataOptions> &
  KeyFlags &
  Pick<FlagValues<typeof serviceOptions>, 'host' | 'apiKeyHeader'> & {
    port: number;
    recordCallers?: boolean;
  };

/**
 * Starts a service with options and environment variables.
 *
 * @throws {UsageError} if an option, a variable, or the seed data does not allow it.
 * @throws {UnavailableError} if the database can't be used now.
 */
export async function startServiceFor(
  values: ServiceValues,
  process: CommandProcess,
): Promise<RunningService> {
  const { host, port } = values;
  const { env, stderr } = process;
  const terminal = createTerminal(stderr, env);
  const seedPath = values.seed;
  if (seedPath !== undefined) terminal.live('  reading the seed data');
  const seed = seedPath === undefined ? undefined : readSeedFile(seedPath, '--seed-file');
  const key = readServiceKey(values, env);
  if (key === undefined && !isLoopbackHost(host)) {
    throw new UsageError(
      `Other machines can reach ${host} (--host). Set a key in SANDBOX_KIT_SERVICE_API_KEY, or use --api-key-file.`,
    );
  }
  const databaseUrl = readDatabaseUrl(values, process);
  const judge = readModelEndpoint('JUDGE', env);
  const userModel = readModelEndpoint('USER', env);
  const speech = readEndpoint('SPEECH', env);
  const transcription = readEndpoint('TRANSCRIBE', env);
  const service = await import('../../src/service/index.ts');
  if (key !== undefined && !service.isKey(key)) {
    throw new UsageError(`${describeServiceKey(values)} must be ${service.KEY_FORM}.`);
  }
  try {
    return await service.startService({
      ...libraryValues(serviceOptions, values),
      log: createLog(values.logLevel, stderr),
      keys: key === undefined ? [] : [{ key }],
      recordCallers: values.recordCallers ?? false,
      kit: createKitFunctions(),
      ...(databaseUrl !== undefined && { databaseUrl }),
      ...(seed && {
        seed: seed.document,
        onSeedProgress: (done: number, total: number) =>
          terminal.live(`  loaded ${done} of ${total} sessions of the seed data`),
      }),
      ...(judge && { judge }),
      ...(userModel && { userModel }),
      ...(speech && { speech }),
      ...(transcription && { transcription }),
    });
  } catch (error) {
    if (seed && error instanceof service.InvalidSeedError) {
      throw seed.errorAt(error.pointer, error.problem, error.relatedPointer);
    }
    if (!(error instanceof service.StartError)) throw error;
    const portInUse = findPortInUse(error, { host, port });
    if (portInUse) throw portInUse;
    const message = `Can't start the service: ${error.message}`;
    const isAway = error instanceof service.DatabaseUnavailableError;
    throw isAway ? new UnavailableError(message) : new UsageError(message);
  } finally {
    terminal.live('');
  }
}
