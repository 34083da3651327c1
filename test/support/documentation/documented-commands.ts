/** How the commands of the documentation are changed so that a test can run them. */
import { isNightly } from '../nightly.ts';

/** How a command is changed because it takes long or needs a special target. */
export interface Adaptation {
  command: RegExp;
  add?: string[];
  remove?: string[];
  /** The target is the agent that sends `content` as null. */
  isFaulty?: true;
  /** The target is an address where nothing listens: the command is only parsed. */
  isUnreachable?: true;
  /** The number of the exchange becomes that of the request "full" in the report. */
  isFullRequest?: true;
  codes?: number[];
  /** The changed command does not print the output that the guide shows. */
  hasOtherOutput?: true;
}

/** Options of a load test that takes a second. */
export const shortLoad = [
  '--rate',
  '5',
  '--duration',
  '1s',
  '--warm-up',
  '0s',
  '--accept-not-proven',
];
/** A load run on a busy machine may be invalid: 3. */
export const loadCodes = [0, 3];

/** The first match applies. */
export const adaptations: Adaptation[] = [
  { command: /^demo$/, add: ['--help'] },
  // Needs a database.
  { command: /^move /, add: ['--help'] },
  {
    command: isNightly ? /^selftest$|^selftest --area/ : /^selftest/,
    add: ['--list'],
    hasOtherOutput: true,
  },
  { command: /^resend report\.json/, codes: [1], isFullRequest: true },
  { command: /^check .*--area (voice|service)/, add: ['--dry-run'], hasOtherOutput: true },
  { command: /^check .*--(watch|only|skip)/, add: ['--dry-run'], hasOtherOutput: true },
  { command: /^check .*--compare/, add: ['--area', 'health'], hasOtherOutput: true },
  { command: /^check .*--known-failures/, add: ['--area', 'chat'], isFaulty: true },
  { command: /^check \S+example\.com$/, add: ['--area', 'chat'], isFaulty: true, codes: [1] },
  { command: /^check (?!.*(--area|--dry-run))/, add: ['--area', 'health'] },
  // The reports of the shards in the guide are prepared below.
  { command: /^load --merge/, add: ['--accept-not-proven'], codes: loadCodes },
  {
    command: /^load .*--shard/,
    remove: ['--rate', '--start-at'],
    add: shortLoad,
    codes: loadCodes,
  },
  { command: /^load .*--find-max/, isUnreachable: true, codes: [3] },
  {
    command: /^load .*--profile voice/,
    remove: ['--calls', '--duration'],
    add: ['--calls', '1', '--duration', '2s', '--accept-not-proven'],
    codes: loadCodes,
    hasOtherOutput: true,
  },
  {
    command: /^load .*--engine autocannon/,
    remove: ['--connections', '--duration'],
    add: ['--connections', '2', '--duration', '1s', '--accept-not-proven'],
    codes: loadCodes,
    hasOtherOutput: true,
  },
  {
    command: /^load /,
    remove: ['--quick', '--rate', '--duration', '--accept-not-proven'],
    add: shortLoad,
    codes: loadCodes,
    hasOtherOutput: true,
  },
  // The command is replaced by one that sends nothing.
  { command: /^exec .*--judge-client/, codes: [3], hasOtherOutput: true },
  // A call takes as long as its speech.
  isNightly
    ? { command: /^simulate .*--voice/, add: ['--scenario', 'opening-hours'] }
    : { command: /^simulate .*--voice/, isUnreachable: true, codes: [3], hasOtherOutput: true },
];
