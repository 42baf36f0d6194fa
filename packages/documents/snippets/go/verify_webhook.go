// Go 1.19 or newer; no modules needed.
//
//	WEBHOOK_SECRET=… go run verify_webhook.go "$X_WEBHOOK_TIMESTAMP" "$X_WEBHOOK_SIGNATURE" < raw-body
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"os"
)

// VerifyWebhook takes the raw body as received, before any JSON parser. Deduplicate on X-Webhook-Id.
func VerifyWebhook(secret, timestamp string, rawBody []byte, signature string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(signature))
}

func main() {
	rawBody, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if !VerifyWebhook(os.Getenv("WEBHOOK_SECRET"), os.Args[1], rawBody, os.Args[2]) {
		fmt.Println("INVALID")
		os.Exit(1)
	}
	fmt.Println("valid")
}
