/** JUnit XML. Every count is computed from the test cases. */

/** A test case; it passed when it has no outcome. */
export interface TestCase {
  classname: string;
  name: string;
  durationMs?: number;
  outcome?: Outcome | undefined;
  /** What the case printed, line by line. */
  output?: string | undefined;
}

/** Why a test case did not pass. */
export interface Outcome {
  kind: 'failure' | 'error' | 'skipped';
  message: string;
  /** Details, line by line. */
  text?: string | undefined;
}

/** A test suite. */
export interface TestSuite {
  name: string;
  /** ISO time of the start. */
  timestamp: string;
  cases: readonly TestCase[];
}

/** Writes test suites as JUnit XML. */
export function junitXml(name: string, suites: readonly TestSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${attribute(name)}" ${countsOf(all)}>`,
    ...suites.flatMap(suiteLines),
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteLines({ name, timestamp, cases }: TestSuite): string[] {
  const head = `name="${attribute(name)}" timestamp="${attribute(timestamp)}" ${countsOf(cases)}`;
  return [
    `  <testsuite ${head} skipped="${countOf(cases, 'skipped')}">`,
    ...cases.flatMap(caseLines),
    '  </testsuite>',
  ];
}

function caseLines({ classname, name, durationMs, outcome, output }: TestCase): string[] {
  const time = durationMs === undefined ? '' : ` time="${(durationMs / 1000).toFixed(3)}"`;
  const open = `    <testcase classname="${attribute(classname)}" name="${attribute(name)}"${time}`;
  const children = [
    ...(outcome ? [outcomeElement(outcome)] : []),
    ...(output === undefined ? [] : [`<system-out>${escapeXml(output)}</system-out>`]),
  ];
  if (children.length === 0) return [`${open}/>`];
  return [`${open}>`, ...children.map((child) => `      ${child}`), '    </testcase>'];
}

function outcomeElement({ kind, message, text }: Outcome): string {
  const open = `<${kind} message="${attribute(message)}"`;
  return text === undefined ? `${open}/>` : `${open}>${escapeXml(text)}</${kind}>`;
}

const countOf = (cases: readonly TestCase[], kind: string): number =>
  cases.filter(({ outcome }) => outcome?.kind === kind).length;

const countsOf = (cases: readonly TestCase[]): string =>
  `tests="${cases.length}" failures="${countOf(cases, 'failure')}" errors="${countOf(cases, 'error')}"`;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

// XML 1.0 allows these characters in no form, not even as references.
const unwritable = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

const escapeXml = (text: string): string =>
  text
    .replaceAll(unwritable, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');

const attribute = (text: string): string => escapeXml(text).replaceAll(/[\n\r\t]/g, ' ');
