import type { UntestableStatements } from '../engine/requirement.ts';

const DEFINITION = 'It is a heading or defines a term, so it states no rule.';
const SERVICE_BEHAVIOR = 'It describes what the service does; the sandbox only receives it.';
const UNSPECIFIED = 'It names something that the specification leaves open.';

/** Statements that no check can cover, with the reason. */
export const untestable: readonly UntestableStatements[] = [
  { statements: ['0.1', '0.3', '0.4', '0.6', '1.3', '4.b1', '8.b1'], reason: DEFINITION },
  { statements: ['2.10.6', '9.3'], reason: `${DEFINITION} Any string is a valid version.` },
  {
    statements: ['1.5', '1.6', '3.2.3', '4.6.9', '5.b1', '5.b3'],
    reason: SERVICE_BEHAVIOR,
  },
  {
    statements: ['2.7.13'],
    reason: `${SERVICE_BEHAVIOR} The kit complies: it sends no tool definitions.`,
  },
  {
    statements: ['9.4'],
    reason:
      'It is a rule for the caller. The kit complies: it derives no interface version from `version`.',
  },
  { statements: ['6.1', '6.2', '9.5'], reason: UNSPECIFIED },
  { statements: ['2.11.1'], reason: DEFINITION },
  {
    statements: ['7.b16'],
    reason: `${UNSPECIFIED} The report lists the close codes under observed behavior.`,
  },
  {
    statements: ['8.b8'],
    reason: 'It needs 100 concurrent calls, too many for a check. Run sandbox-kit load instead.',
  },
  {
    statements: ['8.b3'],
    reason:
      'It needs 100 requests per second for minutes, too many for a check. Run sandbox-kit load instead.',
  },
  {
    statements: ['8.b4'],
    reason:
      'Availability is measured over a testing window; a single run can neither prove nor disprove it.',
  },
  {
    statements: ['0.2', '0.5', '1.1', '1.15', '1.17', '1.18', '2.2.1', '4.a1', '4.2.7'],
    reason: DEFINITION,
  },
  { statements: ['5.a2', '7.a6', '8.a4'], reason: DEFINITION },
  {
    statements: ['2.6.9', '3.1.25', '4.4.18', '5.a6', '7.a4', '7.a10', '7.a11'],
    reason: `${UNSPECIFIED} The report lists what a service does under observed behavior.`,
  },
  {
    statements: ['1.12', '5.a5'],
    reason: `${UNSPECIFIED} It concerns the dashboard or another interface.`,
  },
  {
    statements: ['3.1.26'],
    reason: `${UNSPECIFIED} Sessions are listed only after they are scored, so earlier states are not visible.`,
  },
  {
    statements: ['8.a9'],
    reason: `${UNSPECIFIED} Only a load test could find such a limit.`,
  },
  { statements: ['2.1.r1b'], reason: 'It is a rule for the sender. The kit complies.' },
  { statements: ['3.1.18'], reason: 'No response of the interface shows what the service logs.' },
];
