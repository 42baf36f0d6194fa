// Go 1.19 or newer; no modules needed.
//
//	WEBHOOK_SECRET=… PORT=3000 go run receive_webhook.go
//
// The next line lets this program lie in one folder with others: "go run" of a named file does not mind it.

//go:build ignore

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"
)

const toleranceSeconds = 300
const bodyBytesMax = 1 << 20

var secret = os.Getenv("WEBHOOK_SECRET")
var wholeSeconds = regexp.MustCompile(`^[0-9]{1,12}$`)

// In your server this is a table with a unique column, so that a restart forgets nothing.
var seen sync.Map

func isGenuine(timestamp string, rawBody []byte, signature string) bool {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	now := time.Now().Unix()
	if err != nil || !wholeSeconds.MatchString(timestamp) || sent < now-toleranceSeconds || sent > now+toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(signature))
}

func receive(response http.ResponseWriter, request *http.Request) {
	// The bytes as received: a parsed and re-serialised body has another signature.
	rawBody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !isGenuine(request.Header.Get("X-Webhook-Timestamp"), rawBody, request.Header.Get("X-Webhook-Signature")) {
		fmt.Println("refused: wrong signature, or a timestamp more than 5 minutes off")
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event struct{ ID, Type string }
	if err := json.Unmarshal(rawBody, &event); err != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	// Delivery is at least once. The id in the body is signed, the one in the header is not.
	_, before := seen.LoadOrStore(event.ID, true)
	response.WriteHeader(http.StatusOK)
	// Work that takes time belongs into a goroutine: the reply is sent when this function ends.
	if before {
		fmt.Printf("ignored %s: received before\n", event.ID)
	} else {
		fmt.Println("received", event.Type, event.ID)
	}
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	if secret == "" {
		fmt.Fprintln(os.Stderr, "usage: WEBHOOK_SECRET=... PORT=3000 go run receive_webhook.go")
		os.Exit(2)
	}
	fmt.Printf("listening on http://127.0.0.1:%s/webhooks\n", port)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(receive)))
}
