# syntax=docker/dockerfile:1

# Builds an image from the packed kit:
#
#     npm pack && docker build --tag sandbox-kit .

ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS install
WORKDIR /opt/sandbox-kit
COPY sandbox-kit-*.tgz /tmp/sandbox-kit.tgz
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund /tmp/sandbox-kit.tgz

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
COPY --from=install /opt/sandbox-kit /opt/sandbox-kit
RUN ln -s /opt/sandbox-kit/node_modules/.bin/sandbox-kit /usr/local/bin/sandbox-kit \
  && install --directory --owner=node --group=node /work /data
# The user `node`, as a number: Kubernetes can then verify that it is not root.
USER 1000:1000
# Mount the working directory, which gets the reports, and /data, where `serve` keeps its data.
WORKDIR /work
VOLUME ["/data"]
EXPOSE 8080 9090
# The health check of `serve`. For `agent`, set HEALTH_URL to http://127.0.0.1:8080/health.
ENV HEALTH_URL=http://127.0.0.1:9090/__admin/ready
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.HEALTH_URL, { headers: { 'x-service-api-key': process.env.SANDBOX_KIT_SERVICE_API_KEY ?? '' } }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["sandbox-kit"]
CMD ["--help"]
