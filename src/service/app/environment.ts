/** Variables that point a process to a service. */
export interface ServiceEnvironment {
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  OTEL_EXPORTER_OTLP_PROTOCOL: string;
  OTEL_EXPORTER_OTLP_HEADERS: string;
  SANDBOX_KIT_SERVICE_URL: string;
  SANDBOX_KIT_SERVICE_API_KEY: string;
  SANDBOX_KIT_ADMIN_URL: string;
}

/** Returns the variables that point a process to a service. */
export function createServiceEnvironment(
  { url, apiKey, adminUrl }: { url: string; apiKey: string; adminUrl: string },
  apiKeyHeader: string,
): ServiceEnvironment {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_HEADERS: `${apiKeyHeader}=${encodeURIComponent(apiKey)}`,
    SANDBOX_KIT_SERVICE_URL: url,
    SANDBOX_KIT_SERVICE_API_KEY: apiKey,
    SANDBOX_KIT_ADMIN_URL: adminUrl,
  };
}
