/** Options that several commands have. */
import { SERVICE_API_KEY_HEADER } from '../../contract/index.ts';
import {
  group,
  listOption,
  option,
  optionWithDefault,
  replacing,
  secretOption,
  shared,
  switchOption,
} from './option.ts';
import * as values from './values.ts';

export const jsonReport = option(values.filePath, 'FILE', 'Write the report as JSON; - for stdout');
export const junitReport = option(values.filePath, 'FILE', 'Write the report as JUnit XML');
export const markdownReport = option(values.filePath, 'FILE', 'Write a summary in Markdown');
export const htmlReport = option(values.filePath, 'FILE', 'Write the report as one HTML page');

/** Compares a run with the JSON report of an earlier one. */
export const compare = option(
  values.filePath,
  'FILE',
  'Compare with the JSON report of an earlier run',
);

const apiKeyFile = option(
  values.filePath,
  'FILE',
  'Read the API key from a file instead of the environment',
);

export const apiKeyHeader = optionWithDefault(
  values.headerName,
  'NAME',
  "Header of the service's API key",
  SERVICE_API_KEY_HEADER,
);

/** The API key: in a file, or from an environment variable that the configuration file names. */
export const keyOptions = {
  'api-key': replacing(['api-key-file'], secretOption(values.text, 'KEY', 'API key')),
  'api-key-file': replacing(['api-key'], apiKeyFile),
};

/** Options of the connection to the sandbox. */
export const sandboxAccess = {
  'api-key': shared(keyOptions['api-key']),
  'api-key-file': shared(keyOptions['api-key-file']),
  'allow-http': shared(
    switchOption('Accept plain HTTP off loopback, also for the API key and --header-file'),
  ),
  'header-file': shared(
    option(values.filePath, 'FILE', 'Send the headers in this file, one Name: value per line'),
  ),
  ca: shared(option(values.filePath, 'FILE', 'Trust the CA certificates in this PEM file')),
  cert: shared(option(values.filePath, 'FILE', 'Client certificate (PEM)')),
  key: shared(option(values.filePath, 'FILE', 'Private key of --cert (PEM)')),
  'key-passphrase-file': shared(
    option(values.filePath, 'FILE', 'Read the passphrase of --key from a file'),
  ),
};

/** The seed of a run, which the report states. */
export const runSeed = shared(
  option(values.seed, 'SEED', 'Random seed; repeats the ids of an earlier run', 'random'),
);

export const host = optionWithDefault(
  values.hostName,
  'HOST',
  'Host name or IP address to listen on',
  '127.0.0.1',
);

export const logLevel = optionWithDefault(
  values.logLevel,
  'LEVEL',
  `Log level on stderr: ${values.LOG_LEVELS}`,
  'warn',
);

export const targetAreas = option(
  values.targetAreas,
  'AREAS',
  'Areas, comma-separated: chat, health, users, voice; or only service',
  'chat,health,users,voice',
);

export const timeoutMs = shared(
  optionWithDefault(
    values.wholeNumber(100, 600_000),
    'MS',
    'Timeout of chat and user requests in ms, 100 to 600000',
    30_000,
  ),
);

export const scenarios = listOption(
  values.text,
  'PATTERN',
  'Scenario file, directory, glob, or id of a starter scenario; repeatable',
);

/** Options that write the report of a conformance run. */
export const conformanceReports = group('Report', {
  json: jsonReport,
  junit: junitReport,
  markdown: markdownReport,
  html: htmlReport,
  'known-failures': option(values.filePath, 'FILE', 'Accept the failures in this JSON file'),
  strict: switchOption('Treat warnings as failures'),
  verbose: switchOption('Show every failure, all notes, and all observed behavior'),
});

/** Environment variables of the connection to a sandbox. */
export const accessVariables = {
  SANDBOX_KIT_KEY_PASSPHRASE: 'Passphrase of --key',
  HTTPS_PROXY: 'Proxy for https: URLs; HTTP_PROXY for http:, NO_PROXY for exceptions',
} as const;

/** Options that select the requirements to judge. */
export const selectionOptions = {
  only: option(
    values.requirementPatterns,
    'IDS',
    'Judge only these requirements, such as CHAT-024,USERS-*; sends all requests of their areas',
  ),
  skip: option(values.requirementPatterns, 'IDS', 'Skip these requirements'),
  requirements: option(
    values.text,
    'SET',
    'Requirement set of a release, such as 0.2; later requirements are notes',
    'newest',
  ),
} as const;

/** Environment variables of the sandbox's key and the service's key. */
export const sandboxKeyVariable = {
  SANDBOX_KIT_API_KEY: 'Bearer key of the sandbox; or use --api-key-file',
} as const;
export const serviceKeyVariable = {
  SANDBOX_KIT_SERVICE_API_KEY: 'API key of the service',
} as const;
