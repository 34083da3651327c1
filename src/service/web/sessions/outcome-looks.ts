/** How pages show the outcome of an eval. An errored eval neither passed nor failed. */
export const OUTCOME_LOOKS = {
  pass: { className: 'pass', icon: '✓', word: 'pass' },
  fail: { className: 'fail', icon: '✗', word: 'fail' },
  error: { className: 'undecided', icon: '!', word: 'errored' },
} as const;
