#!/bin/sh
# The bucket of the exported heads, which nobody who administers the database can change: made once, by somebody else, in an
# account of its own. An object can be neither replaced nor removed before its time, by nobody (compliance mode).
#
#   sh deploy/k8s/prerequisites/heads-bucket.sh backoffice-heads sa-east-1 [DAYS]
#   sh deploy/k8s/prerequisites/heads-bucket.sh policy backoffice-heads    # prints what its key may do, and no more
#
# With the command line of AWS, or of any storage that speaks its API (AWS_ENDPOINT_URL).
set -eu

if [ "$1" = policy ]; then
  cat <<POLICY
{
  "Version": "2012-10-17",
  "Statement": [
    { "Effect": "Allow", "Action": ["s3:PutObject", "s3:GetObject"], "Resource": "arn:aws:s3:::$2/*" },
    { "Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::$2" }
  ]
}
POLICY
  exit
fi

bucket=$1 region=${2:?"a region"} days=${3:-400}
# A lock wants versions, and the bucket is made with both.
aws s3api create-bucket --bucket "$bucket" --region "$region" --object-lock-enabled-for-bucket \
  --create-bucket-configuration "LocationConstraint=$region"
aws s3api put-object-lock-configuration --bucket "$bucket" --region "$region" --object-lock-configuration \
  "{\"ObjectLockEnabled\":\"Enabled\",\"Rule\":{\"DefaultRetention\":{\"Mode\":\"COMPLIANCE\",\"Days\":$days}}}"
aws s3api put-public-access-block --bucket "$bucket" --region "$region" --public-access-block-configuration \
  BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true
