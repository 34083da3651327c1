/** Options that several jobs have. */
import * as z from 'zod';
import { isMessage, type Messages } from '../contract/index.ts';
import {
  functionOption,
  logOption,
  nonEmptyStringOption,
  optionsObject,
} from '../platform/options.ts';
import {
  codeOption,
  fileOption,
  flagOnly,
  group,
  listOption,
  option,
  optionWithDefault,
  switchOption,
} from './option.ts';
import * as values from './values.ts';

export const jsonReport = option(values.filePath, 'FILE', 'Write the report as JSON; - for stdout');

/** The files of a report. */
export const reportFiles = flagOnly({
  json: jsonReport,
  junit: option(values.filePath, 'FILE', 'Write the report as JUnit XML'),
  markdown: option(values.filePath, 'FILE', 'Write a summary in Markdown'),
  html: option(values.filePath, 'FILE', 'Write the report as one HTML page'),
});

/** Returns the schema of a report of an earlier run. */
export const reportSchema = (name: keyof Messages): z.ZodType =>
  z.custom((value) => isMessage(name, value), `a ${name}`);

/** Compares a run with the JSON report of an earlier one. */
export const compareWith = (
  type: 'CheckReport' | 'LoadReport' | 'SimulationReport',
  schema = reportSchema(type),
) =>
  fileOption('Compare with the JSON report of an earlier run', {
    flag: 'compare',
    inCode: { schema, type, about: 'An earlier report. The new report then has a `comparison`.' },
  });

/** The port of a server. */
export const portOption = (port: number) =>
  option(values.port, 'PORT', 'Port to listen on; 0 selects a free one', {
    default: String(port),
    inCode: 'Port to listen on; 0, the default, picks a free port.',
  });

export const host = optionWithDefault(
  values.hostName,
  'HOST',
  'Host name or IP address to listen on',
  '127.0.0.1',
);

export const log = codeOption({
  schema: logOption,
  type: 'Log',
  about: 'Receives log lines (default: no log).',
});

export const logLevel = optionWithDefault(
  values.logLevel,
  'LEVEL',
  `Log level on stderr: ${values.LOG_LEVELS}`,
  'warn',
);

export const timeoutMs = optionWithDefault(
  values.wholeNumber(100, 600_000),
  'MS',
  'Timeout of chat and user requests in ms, 100 to 600000',
  30_000,
  {
    isShared: true,
    inCode: 'Timeout of chat and user requests in milliseconds (default: 30 000).',
  },
);

export const scenarios = listOption(
  values.text,
  'PATTERN',
  'Scenario file, directory, glob, or id of a shipped scenario; repeatable',
  { flag: 'scenario' },
);

/** A failing requirement that is accepted. */
export interface KnownFailure {
  /** The id of the requirement, such as `CHAT-024`. */
  id: string;
  /** The reason for accepting the failure. */
  comment: string;
}

const knownFailures = z.array(
  optionsObject<KnownFailure>({ id: nonEmptyStringOption, comment: nonEmptyStringOption }, [
    'id',
    'comment',
  ]),
  'an array of {id, comment}',
);

/** Options that judge a conformance run and write its report. */
export const conformanceReports = group('Report', {
  ...reportFiles,
  knownFailures: fileOption('Accept the failures in this JSON file', {
    inCode: {
      schema: knownFailures,
      type: 'readonly KnownFailure[]',
      about: 'Failures to accept, each with the reason.',
    },
  }),
  strict: switchOption('Treat warnings as failures', {
    inCode: 'Treats warnings as failures (default: false).',
  }),
  ...flagOnly({
    verbose: switchOption('Show every failure, all notes, and all observed behavior'),
  }),
});

/** Options that select the requirements to judge. */
export const selectionOptions = {
  only: option(
    values.requirementPatterns,
    'IDS',
    'Judge only these requirements, such as CHAT-024,USERS-*; sends all requests of their areas',
    {
      inCode:
        'Ids or patterns such as `USERS-*` of the requirements to judge (default: all that the areas have).',
    },
  ),
  skip: option(values.requirementPatterns, 'IDS', 'Skip these requirements', {
    inCode: 'Ids or patterns of the requirements to skip.',
  }),
  requirements: option(
    values.text,
    'SET',
    'Requirement set of a release, such as 0.2; later requirements are notes',
    'newest',
  ),
};

/** A callback of a program. */
export const callback = (type: string, about: string) =>
  codeOption({ schema: functionOption, type, about });
