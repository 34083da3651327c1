/** Header with the key of the evaluation service (spec 5, area A). Lower case, as Node reports it. */
export const serviceApiKeyHeader = 'x-service-api-key';
