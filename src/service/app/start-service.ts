import { describeArgument } from '../../contract/index.ts';
import { StartError } from '../../http-kit/errors.ts';
import { listen } from '../../http-kit/listen.ts';
import { isLoopbackHost } from '../../platform/loopback.ts';
import { validateOptions } from '../../platform/options.ts';
import type { ServiceControls } from '../admin/controls.ts';
import type { ServiceKey } from '../options.ts';
import { InvalidDocumentError, InvalidSeedError, RequestError } from '../requests/errors.ts';
import type { CallerRecording } from './caller-recorder.ts';
import { composeService, type ComposedService } from './compose-service.ts';
import type { Cleanups } from './open-data.ts';
import { serviceOptionsSchema, type ServiceSetup, type StartOptions } from './options.ts';

/** Variables that point a process to a service. */
export interface ServiceEnvironment {
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  OTEL_EXPORTER_OTLP_PROTOCOL: string;
  OTEL_EXPORTER_OTLP_HEADERS: string;
  SANDBOX_KIT_SERVICE_URL: string;
  SANDBOX_KIT_SERVICE_API_KEY: string;
  SANDBOX_KIT_ADMIN_URL: string;
}

/** A service that is listening, and its test controls. */
export interface RunningService extends ServiceControls {
  /** Base URL, without a trailing slash. */
  url: string;
  /** The first configured API key, or the development key. */
  apiKey: string;
  /** Base URL of the deep links, without a trailing slash. */
  appUrl: string;
  adminUrl: string;
  /**
   * Variables for a process that sends traces to the service or calls it: those of OpenTelemetry
   * exporters (`OTEL_EXPORTER_OTLP_ENDPOINT`, `_HEADERS`, `_PROTOCOL`), and
   * `SANDBOX_KIT_SERVICE_URL`, `SANDBOX_KIT_SERVICE_API_KEY`, and `SANDBOX_KIT_ADMIN_URL`.
   */
  env: ServiceEnvironment;
  /** Whether the settings of the service's own owner had evals at the start. */
  hasLiveEvals: boolean;
  /** Returns the requests of callers so far; undefined unless `recordCallers` is true. */
  callerRecording(): Promise<CallerRecording | undefined>;
  /** Stops accepting connections and lets requests in progress finish. Takes a few seconds at most. */
  stop(): Promise<void>;
}

/**
 * Starts the service: area A of the interface, `/__admin`, and the pages of the deep links.
 * @throws {TypeError} if an option is unknown or invalid, or an address other than loopback has no key.
 * @throws {SandboxKitError} `start_failed`, for example if the port is in use, or another service uses
 * the data directory.
 */
export async function startService(options: Partial<ServiceSetup> = {}): Promise<RunningService> {
  validateOptions('startService', serviceOptionsSchema, options);
  const { host = '127.0.0.1', keys = [], seed } = options;
  const problem = seed && describeArgument('seed', 'SeedDocument', seed);
  if (problem !== undefined) throw new TypeError(`startService: ${problem}`);
  checkAccess(host, keys);
  if (options.dataDir !== undefined && options.databaseUrl !== undefined) {
    throw new TypeError('startService: Set dataDir or databaseUrl, not both.');
  }
  const cleanups: Cleanups = [];
  const cleanUp = async (): Promise<void> => {
    for (const step of cleanups.splice(0).reverse()) await step();
  };
  try {
    const running = await start({ ...options, host, keys }, cleanups);
    let stopped: Promise<void> | undefined;
    return { ...running, stop: () => (stopped ??= cleanUp()) };
  } catch (error) {
    await cleanUp();
    if (error instanceof InvalidDocumentError) throw new InvalidSeedError(error);
    if (error instanceof RequestError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

async function start(
  options: StartOptions,
  cleanups: Cleanups,
): Promise<Omit<RunningService, 'stop'>> {
  const { host, port = 0 } = options;
  const service = await composeService(options, cleanups);
  const { store, log, guard, address, apiKey, apiKeyHeader, ownerName } = service;
  await guard(() => loadSeed(service, options));
  address.url = await listen(service.app, { host, port, scheme: 'http' });
  log.info('service_listening', { url: address.url });
  const { evals } = await store.settings.get(await store.owners.ensure(ownerName));
  const { url } = address;
  const urls = { url, appUrl: service.appUrl(), adminUrl: `${url}/__admin` };
  return {
    ...service.controls,
    ...urls,
    apiKey,
    env: createEnvironment({ ...urls, apiKey }, apiKeyHeader),
    hasLiveEvals: evals.length > 0,
    callerRecording: async () => service.callerRecorder?.recording(),
  };
}

/** Loads the seed data, and logs the warnings about every owner's settings. */
async function loadSeed(
  { store: { owners }, seeder, findWarnings, ownerName }: ComposedService,
  { seed, onSeedProgress }: Pick<StartOptions, 'seed' | 'onSeedProgress'>,
): Promise<void> {
  if (seed) await seeder.load(await owners.ensure(ownerName), seed, onSeedProgress);
  for (const ownerId of await owners.listIds()) await findWarnings(ownerId);
}

function createEnvironment(
  { url, apiKey, adminUrl }: Pick<RunningService, 'url' | 'apiKey' | 'adminUrl'>,
  apiKeyHeader: string,
): ServiceEnvironment {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `${apiKeyHeader}=${encodeURIComponent(apiKey)}`,
    SANDBOX_KIT_SERVICE_URL: url,
    SANDBOX_KIT_SERVICE_API_KEY: apiKey,
    SANDBOX_KIT_ADMIN_URL: adminUrl,
  };
}

function checkAccess(host: string, keys: readonly ServiceKey[]): void {
  if (keys.length > 0 || isLoopbackHost(host)) return;
  throw new TypeError(`startService: Other machines can reach a service on ${host}. Set keys.`);
}
