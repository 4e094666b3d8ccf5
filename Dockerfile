# section-dump in an image of its own: docker build -t section-dump . && docker run -v "$PWD:/files:ro" section-dump /files
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc binutils pkg-config libelf-dev
COPY . /swift-beehive
RUN /swift-beehive/Scripts/install --only tool --prefix /opt/section-dump

FROM scratch
COPY --from=build /opt/section-dump/bin/section-dump /bin/section-dump
ENTRYPOINT ["/bin/section-dump"]
CMD ["--help"]
