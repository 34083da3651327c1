import type { Ledger } from '../../../engine/requirement.ts';

/** Requirements of the request rate on `POST /v1/traces` (spec 5, 7, 8). */
export const rateRequirements = {
  'SERVICE-026': {
    level: 'must',
    section: '7',
    statements: ['4.1.9', '5.a4', '7.a8', '8.a2'],
    rule: '`POST /v1/traces` returns 429 after 120 requests per minute with one key.',
    reason: 'One exporter that floods the service would slow down ingestion for every other key.',
    seen: 'provoked',
  },
  'SERVICE-027': {
    level: 'must',
    section: '7',
    statements: ['7.a9'],
    rule: 'A 429 response has a `Retry-After` header with a number of seconds or a future date.',
    reason: 'Without the header, exporters guess how long to wait or give up and lose spans.',
    seen: 'provoked',
  },
  'SERVICE-028': {
    level: 'must',
    section: '8',
    statements: ['5.a4', '8.a2'],
    rule: '`POST /v1/traces` never returns 429 for the first 120 requests per minute with one key.',
    reason: 'Exporters that keep to the documented rate would lose spans.',
    seen: 'provoked',
  },
  'SERVICE-031': {
    level: 'must',
    section: '7',
    statements: ['7.a9', '8.a2'],
    rule: 'A request that is sent after the time in `Retry-After` does not get another 429.',
    reason: 'Exporters that wait as told would lose spans.',
    seen: 'provoked',
  },
} as const satisfies Ledger;
