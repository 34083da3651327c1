/** Header with the key of the evaluation service (spec 5, area A). Lower case, as Node reports it. */
export const SERVICE_API_KEY_HEADER = 'x-service-api-key';
