/** Reasons that requirements of both results endpoints share. */
export const WRONG_TYPE = 'Programs that read the results rely on the type of this field.';
export const WRONG_FILTER = 'A report that uses the filter would count the wrong sessions.';
export const PAGING = 'Programs that read page by page would miss sessions or count them twice.';
export const LATEST = 'A dashboard that reads only the first page would miss the latest sessions.';
export const LINK = 'People follow the link from a failing build to the conversation.';
export const WRONG_COUNTS = 'Builds pass or fail by these numbers.';
export const MISSING_OUTCOME = 'The reasoning of an outcome that is not listed is lost.';
export const FAILED_SUMMARY = 'A failing session would look as if none of its evals had passed.';
export const PRIVACY = 'Conversations contain private customer data.';
export const OBSERVED_VALUE =
  'The specification shows only this value, so programs may not expect another one.';
export const TURN_ORDER = 'Readers of a conversation sort its turns by these numbers.';
export const DURATION = 'Reports would show sessions with a negative duration.';
