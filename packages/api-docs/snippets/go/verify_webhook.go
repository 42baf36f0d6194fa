// Go 1.19 or newer; no modules needed.
//
//	WEBHOOK_SECRET=… go run verify_webhook.go "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
//
// The next line lets this program lie in one folder with others: "go run" of a named file does not mind it.
// Remove it when you take the function into a package of yours.

//go:build ignore

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strconv"
	"time"
)

// Tolerance is by how many seconds X-Webhook-Timestamp may differ from your clock.
const Tolerance = 300

var wholeSeconds = regexp.MustCompile(`^[0-9]{1,12}$`)

// VerifyWebhook takes the raw body as received, before any JSON parser. Deduplicate on the id in the verified body.
func VerifyWebhook(secret, timestamp string, rawBody []byte, signature string, toleranceSeconds, nowSeconds int64) bool {
	// Whoever recorded a delivery cannot send it again later.
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || !wholeSeconds.MatchString(timestamp) || sent < nowSeconds-toleranceSeconds || sent > nowSeconds+toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(signature))
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if len(os.Args) < 3 || secret == "" {
		fmt.Fprintln(os.Stderr, "usage: WEBHOOK_SECRET=... go run verify_webhook.go TIMESTAMP SIGNATURE < raw-body")
		os.Exit(2)
	}
	rawBody, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if !VerifyWebhook(secret, os.Args[1], rawBody, os.Args[2], Tolerance, time.Now().Unix()) {
		fmt.Println("INVALID")
		os.Exit(1)
	}
	fmt.Println("valid")
}
