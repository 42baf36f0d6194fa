#!/bin/sh
# Installs what some tests need beside npm packages, on Debian and as root: a browser, the languages of the signing
# snippets, and Prometheus. Without them those tests are skipped by name, or fail with REQUIRE_TEST_TOOLS=true.
set -eu
apt-get update -qq
exec apt-get install -y -qq --no-install-recommends \
  chromium openssl curl python3 php-cli ruby default-jdk-headless golang-go \
  mono-mcs mono-runtime libmono-system-net-http4.0-cil \
  prometheus </dev/null
